"""An acknowledgement is a promise about the disks of a quorum, and these tests could tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest

from odradek.simulation.faults.disk import SlowDisk
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.server.journal import Journal
from odradek.zookeeper.server.member import Member
from odradek.zookeeper.server.member_node import MemberNode
from odradek.zookeeper.zab.window import Entry
from tests.zookeeper.server.ensemble import Ensemble, read_names

Result = TypeVar("Result")


class HastyJournal(Journal):
    """Promises what it has not yet done: a bug, planted."""

    def append(self, mark: int, entries: Sequence[Entry]) -> None:
        super().append(mark, entries)
        self._loop.call_soon(self._durable, mark)

    def do(
        self, mark: int | None, work: Callable[[], Result], done: Callable[[Result], None]
    ) -> None:
        super().do(mark, work, done)
        if mark is not None:
            self._loop.call_soon(self._durable, mark)


class HastyMember(Member):
    journal_type = HastyJournal


class HastyNode(MemberNode):
    member_type = HastyMember


def lost_by_a_loss_of_power(node_type: type[MemberNode]) -> set[str]:
    """Write while all disks are slow, take the power from all servers, see what is missing."""
    acknowledged: set[str] = set()

    async def story(client: ZooKeeperClient) -> None:
        for number in range(1000):
            try:
                acknowledged.add((await client.create(f"/{number}"))[1:])
            except ZooKeeperError:
                return

    with World(seed=9) as world:
        ensemble = Ensemble(world, node_type=node_type)
        ensemble.settle()
        for id_ in ensemble.ids:
            SlowDisk(f"zk{id_}", factor=100).begin(world)
        ensemble.run("writer", story)
        world.run_until(lambda: len(acknowledged) >= 10)
        for id_ in ensemble.ids:
            ensemble.host(id_).power_off()
        world.host("writer").kill()
        for id_ in ensemble.ids:
            SlowDisk(f"zk{id_}", factor=100).end(world)
            ensemble.restart(id_)
        ensemble.settle()
        names = ensemble.do(read_names())
    assert isinstance(names, list)
    return acknowledged - set(names)


@pytest.mark.parametrize(("node_type", "is_sound"), [(MemberNode, True), (HastyNode, False)])
def test_a_loss_of_power_everywhere_tells_who_promised_too_early(
    node_type: type[MemberNode], is_sound: bool
) -> None:
    assert (lost_by_a_loss_of_power(node_type) == set()) == is_sound
