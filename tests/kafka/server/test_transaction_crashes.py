"""Transactions in whole brokers that die: all or nothing, once, and in order.

Two copiers with one transactional id copy a topic and fence each other, while brokers, ZooKeepers
and copiers are killed, paused, cut off and robbed of power. Readers of what is committed see at any
time each copy once and in order; in the end all is copied, each transaction's tag is there if and
only if it was committed, and no transaction is left open: every last stable offset is at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

import pytest

from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.broker.partition import Partition
from odradek.simulation.faults.nemesis import Nemesis
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.server.conversing import Client
from tests.kafka.server.copy_book import CopyBook
from tests.kafka.server.copying import SOURCE, TARGET, Copier
from tests.kafka.server.ensembled import FLUSHED, SimulatedBrokers
from tests.kafka.server.overseer import Overseer
from tests.kafka.server.reading import CommittedReader
from tests.kafka.server.sending import Sender
from tests.kafka.server.test_group_crashes import KILLS, OFTEN, POWER

SEEDS = int(os.environ.get("SEEDS", "1"))
PARTITIONS = 2
BATCHES = 50
TROUBLE_S = 30.0


class CopyWorld:
    """A cluster, a producer, copiers and readers."""

    def __init__(self, world: World, *, settings: str) -> None:
        self.world = world
        self.cluster = SimulatedBrokers(world, settings=settings)
        self.overseer = Overseer(self.cluster, SOURCE, TARGET, TRANSACTION_STATE, CONSUMER_OFFSETS)
        ids = self.cluster.ids
        self.sender = Sender(ids, SOURCE, PARTITIONS, BATCHES, 2 * TROUBLE_S / BATCHES)
        self.book = CopyBook(self.sender.sent)
        self.copiers = {name: Copier(ids, self.book, name) for name in ("c1", "c2")}
        self.readers = [
            CommittedReader(ids, TARGET, it, partial(self.book.check_copies, it))
            for it in range(PARTITIONS)
        ]
        self.tags = CommittedReader(ids, TARGET, PARTITIONS, lambda values: None)

    def start(self) -> None:
        world = self.world
        world.run_to_end(world.host("maker").start(self._make_target), 120)
        world.host("sender").start(self.sender.run)
        self.overseer.watch()
        for name, copier in self.copiers.items():
            world.host(name).start(copier.run)
        for number, reader in enumerate([*self.readers, self.tags]):
            world.host(f"r{number}").start(reader.run)
        world.run_until(lambda: self.book.counts["commits"] > 0, 300)

    async def _make_target(self, environment: Environment) -> None:
        await Client(self.cluster.ids).create_topic(TARGET, PARTITIONS + 1)

    def is_done(self) -> bool:
        is_sent = self.sender.acked == BATCHES
        return is_sent and [it.seen for it in self.readers] == self.sender.sent

    def stop(self) -> None:
        """Let the copiers die as they are."""
        for name in self.copiers:
            self.world.host(name).kill()

    def led(self) -> Iterator[Partition]:
        for node in self.cluster.running().values():
            yield from (it for it in node.broker.partitions.all() if it.is_leader)

    def is_stable(self) -> bool:
        """Whether nothing is open in any partition that is led."""
        return all(it.log.last_stable_offset == it.log.end_offset for it in self.led())

    def judge(self) -> None:
        self.tags.seen = []
        self.world.host("r2").kill()
        count = len(self.book.tags)
        self.world.host("r2").start()
        self.world.run_until(lambda: len(self.tags.seen) >= count, 120)
        self.world.run_for(3)
        self.book.check_tags(self.tags.seen)


def live(seed: int, *, power: bool = False) -> CopyBook:
    with World(seed) as world:
        copies = CopyWorld(world, settings=FLUSHED if power else "")
        copies.start()
        hosts = [*copies.cluster.names, *copies.copiers]
        evil = Nemesis(world, hosts, POWER if power else KILLS, OFTEN)
        evil.start()
        world.run_for(TROUBLE_S)
        evil.stop()
        world.run_until(copies.is_done, 300)
        copies.stop()
        world.run_until(copies.is_stable, 60)
        world.run_until(copies.overseer.is_whole, 120)
        copies.judge()
    return copies.book


@pytest.mark.parametrize("seed", range(SEEDS))
def test_each_record_is_copied_once_and_in_order(seed: int) -> None:
    live(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_so_it_is_under_losses_of_power(seed: int) -> None:
    live(seed, power=True)
