"""The disk of a member: in order, and never ahead of what is true."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import TaskDied, Tasks
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.server.journal import Journal
from odradek.zookeeper.server.log_writer import LogWriter
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.txnlog import TxnLog
from odradek.zookeeper.zab.window import Entry
from tests.zookeeper.storage.logs import entry_of


class Clerk:
    """Has a journal, and notes what it hears."""

    def __init__(self, environment: Environment) -> None:
        self.disk = environment.disk
        self.disk.make_directories("/data")
        self.told: list[object] = []
        note = NodeLog("clerk")
        self.tasks = Tasks(note)
        self.log = TxnLog(self.disk, "/data", step_bytes=0)
        writer = LogWriter(self.log, self.tasks, note)
        self.journal = Journal(writer, self._durable, self.tasks, note)

    def _durable(self, mark: int) -> None:
        stored = [entry.zxid for entry in read_log(self.disk, "/data", 0)]
        self.told.append((mark, stored))

    def append(self, *zxids: int) -> None:
        for zxid in zxids:
            self.journal.append(zxid, [Entry(zxid, entry_of(zxid))])


def play(story: Callable[[Clerk, World], Awaitable[None]], *deaths: type[BaseException]) -> Clerk:
    clerks: list[Clerk] = []
    with World(seed=1) as world:

        async def main(environment: Environment) -> None:
            clerks.append(Clerk(environment))
            await story(clerks[0], world)

        world.run_to_end(world.host("member").start(main, may_die_of=deaths))
    return clerks[0]


def test_what_comes_together_is_written_together_and_told_once() -> None:
    async def story(clerk: Clerk, world: World) -> None:
        clerk.append(1, 2, 3)
        await clerk.journal.drain()

    assert play(story).told == [(3, [1, 2, 3])]


def test_other_work_is_done_between_the_entries_in_its_turn() -> None:
    async def story(clerk: Clerk, world: World) -> None:
        clerk.append(1)
        seen = lambda: [entry.zxid for entry in read_log(clerk.disk, "/data", 0)]  # noqa: E731
        clerk.journal.do(2, seen, lambda stored: clerk.told.append(("work", stored)))
        clerk.append(3)
        await clerk.journal.drain()

    assert play(story).told == [(1, [1]), ("work", [1]), (2, [1]), (3, [1, 3])]


def test_while_the_disk_is_full_nothing_is_told_and_then_all() -> None:
    async def story(clerk: Clerk, world: World) -> None:
        clerk.append(1)
        await clerk.journal.drain()
        device = world.host("member").storage.device
        device.fill()
        world.after(3, device.repair)
        clerk.append(2, 3)
        clerk.told.append(world.now_s)
        await clerk.journal.drain()
        assert world.now_s > 3

    told = play(story).told
    assert told[0] == (1, [1])
    assert told[2:] == [(3, [1, 2, 3])]


def test_after_a_roll_entries_go_to_a_new_file() -> None:
    async def story(clerk: Clerk, world: World) -> None:
        clerk.append(1)
        clerk.journal.roll()
        clerk.append(2)
        await clerk.journal.drain()

    clerk = play(story)
    assert clerk.told[-1] == (2, [1, 2])


def test_a_disk_that_fails_ends_the_server() -> None:
    async def story(clerk: Clerk, world: World) -> None:
        world.host("member").storage.device.fail("sync")
        clerk.append(1)
        await clerk.tasks.until_stopped()

    assert play(story, TaskDied).told == []


@pytest.mark.parametrize("count", [1, 5])
def test_who_counts_entries_is_woken_when_there_are_enough(count: int) -> None:
    async def story(clerk: Clerk, world: World) -> None:
        waiting = clerk.tasks.start("w", clerk.journal.until_proposed(count), may_end=True)
        await clerk.journal.drain()
        clerk.append(*range(1, count + 1))
        await waiting
        assert clerk.journal.proposed_count == count

    play(story)
