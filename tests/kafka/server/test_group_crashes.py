"""Groups in whole brokers that die: every partition is owned once, nothing committed is forgotten.

Members of all kinds come, go, hang and are killed, while brokers and ZooKeepers are killed, paused,
cut off and robbed of power. What must not be, `group_book.py` says. In the end everything that was
sent was read by somebody, and is committed.

Cooperation has one gap, in Kafka too (`Groups.java` among the programs for Java's clients): a
static member that dies between two rounds is succeeded by one that has nothing to give up, so the
second round never comes, and what was kept back for it is nobody's until the group rebalances for
another reason. Somebody here sees that and has the members join again, as one would by hand.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.wire.messages.offset_commit import OffsetCommitResponse
from odradek.simulation.faults import nemesis
from odradek.simulation.faults.nemesis import Limits, Nemesis
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.server.conversing import GROUP, Client
from tests.kafka.server.ensembled import FLUSHED, SimulatedBrokers
from tests.kafka.server.group_book import GroupBook
from tests.kafka.server.grouped import SESSION_MS, Member, commit_request
from tests.kafka.server.overseer import Overseer
from tests.kafka.server.sending import Sender, read_all

SEEDS = int(os.environ.get("SEEDS", "1"))
TOPIC = "t"
PARTITIONS = 5
BATCHES = 60
# The last has the name of another, and fences it whenever it joins, and the other way round.
INSTANCES = {"m1": None, "m2": None, "m3": "i3", "m4": "i4", "m5": "i4"}
RIVAL = "m5"
TROUBLE_S = 30.0
ABANDONED_S = 15.0  # Several sessions: no round will come by itself.
KILLS = (
    nemesis.one_way_cut,
    nemesis.partition,
    nemesis.resets,
    nemesis.slow_links,
    nemesis.pause,
    nemesis.kill,
    nemesis.slow_disk,
    nemesis.drift,
)
POWER = (*KILLS, nemesis.power_loss, nemesis.wrong_time)
OFTEN = Limits(victims_max=2, pause_s=(0.1, 2.5), duration_s=(0.1, 5.0))


class GroupWorld:
    """A cluster, a producer and members."""

    def __init__(self, world: World, *, is_cooperative: bool, brokers: int, settings: str) -> None:
        zookeepers = 3 if brokers > 1 else 1
        self.world = world
        self.book = GroupBook()
        self.cluster = SimulatedBrokers(
            world, brokers=brokers, zookeepers=zookeepers, settings=settings
        )
        self.overseer = Overseer(self.cluster, TOPIC, CONSUMER_OFFSETS)
        self.sender = Sender(self.cluster.ids, TOPIC, PARTITIONS, BATCHES, 2 * TROUBLE_S / BATCHES)
        self.members = {
            name: Member(
                self.cluster.ids,
                self.book,
                TOPIC,
                PARTITIONS,
                instance=instance,
                is_cooperative=is_cooperative,
            )
            for name, instance in INSTANCES.items()
        }

    def start(self) -> None:
        sending = self.world.host("sender")
        sending.start(self.sender.run)
        self.overseer.watch()
        for name, member in self.members.items():
            self.world.host(name).start(member.run)
        self.world.run_until(lambda: self.book.counts["commits"] > 0, 300)

    def calm_down(self) -> None:
        for member in self.members.values():
            member.is_calm = True
        self.world.host(RIVAL).kill()
        del self.members[RIVAL]

    def is_done(self) -> bool:
        """Whether all was sent, read and committed, and all is owned."""
        ends = {number: len(sent) for number, sent in enumerate(self.sender.sent) if sent}
        is_sent = self.sender.acked == BATCHES
        return is_sent and self.book.committed == ends and self.is_stable()

    def is_stable(self) -> bool:
        lives = [it.life for it in self.members.values() if it.life is not None]
        owned = sorted(partition for it in lives for partition in it.positions)
        return owned == list(range(PARTITIONS)) and len({it.generation for it in lives}) == 1

    def come_to_rest(self) -> None:
        watch = Watch(self)
        self.world.run_until(lambda: self.is_done() or watch.is_abandoned(), 300)
        if not self.is_done():
            self.book.counts["abandoned"] += 1
            for member in self.members.values():
                if member.life is not None:
                    member.life.is_asked_to_rejoin = True
            self.world.run_until(self.is_done, 300)

    def judge(self) -> None:
        """What was read is what was sent, and it is what the logs hold."""
        for number, sent in enumerate(self.sender.sent):
            assert self.book.read.get(number, []) == sent
            found = self.world.run_to_end(
                self.world.host("judge").start(partial(self._read, number)), 120
            )
            assert found == sent

    async def _read(self, partition: int, environment: Environment) -> object:
        return await read_all(self.cluster.ids, TOPIC, partition, len(self.sender.sent[partition]))


class Watch:
    """Sees when partitions stay without an owner because one who was to give them up is no more."""

    def __init__(self, group: GroupWorld) -> None:
        self._group = group
        self._seen: object = None
        self._since_s = 0.0

    def is_abandoned(self) -> bool:
        group, now_s = self._group, self._group.world.now_s
        lives = [it.life for it in group.members.values() if it.life is not None]
        owned = sorted(partition for it in lives for partition in it.positions)
        seen = {it.generation for it in lives}, owned
        if seen != self._seen:
            self._seen, self._since_s = seen, now_s
        if now_s - self._since_s < ABANDONED_S or len(lives) < len(group.members):
            return False
        book, generation = group.book, group.book.generation
        kept_back = book.kept_back.get(generation, set())
        known = book.shared_among.get(generation, set())
        is_explained = bool(kept_back) and any(life.member_id not in known for life in lives)
        return is_explained and seen == ({generation}, sorted(set(range(PARTITIONS)) - kept_back))


def live(
    seed: int,
    *,
    is_cooperative: bool = False,
    brokers: int = 3,
    power: bool = False,
) -> GroupBook:
    with World(seed) as world:
        group = GroupWorld(
            world,
            is_cooperative=is_cooperative,
            brokers=brokers,
            settings=FLUSHED if power else "",
        )
        group.start()
        hosts = [*group.cluster.names, *group.members]
        evil = Nemesis(world, hosts, POWER if power else KILLS, OFTEN)
        evil.start()
        world.run_for(TROUBLE_S)
        evil.stop()
        group.calm_down()
        group.come_to_rest()
        world.run_until(group.overseer.is_whole, 120)
        group.judge()
    return group.book


@pytest.mark.parametrize("seed", range(SEEDS))
def test_eager_members_own_each_partition_once_and_forget_nothing(seed: int) -> None:
    live(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_cooperative_members_do_so_under_losses_of_power(seed: int) -> None:
    live(seed, is_cooperative=True, power=True)


def test_only_an_explicit_reset_sets_offsets_back() -> None:
    """A group that nobody is in may be set back, and whoever joins begins there."""
    with World(seed=1) as world:
        group = GroupWorld(world, is_cooperative=False, brokers=1, settings="")
        group.start()
        group.calm_down()
        world.run_until(group.is_done, 300)
        for name in group.members:
            world.host(name).kill()
        world.run_for(SESSION_MS / 1000 + 1)
        ends = dict(group.book.committed)
        offsets = dict.fromkeys(ends, 0)
        resetting = world.host("admin").start(partial(reset, group.cluster.ids, offsets))
        world.run_to_end(resetting, 60)
        group.book.reset(offsets)
        read_again = group.book.counts["read again"]
        world.host("m1").start()
        world.run_until(lambda: group.book.committed == ends, 120)
        assert group.book.counts["read again"] - read_again == sum(ends.values())


async def reset(ids: Sequence[int], offsets: Mapping[int, int], environment: Environment) -> None:
    """Set the offsets of a group as an administrator does: of no generation."""
    client, what = Client(ids, "admin"), (GROUP, "g")
    await client.find_coordinator("g", GROUP)
    request = commit_request("g", TOPIC, offsets)
    while True:
        answer = await client.ask(what, request, 7, OffsetCommitResponse)
        codes = [it.error_code for topic in answer.topics for it in topic.partitions]
        if not await client.settle(what, max(codes)):
            return
