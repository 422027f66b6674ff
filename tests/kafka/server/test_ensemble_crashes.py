"""Three ZooKeepers and three brokers under every fault there is, and what must never be seen.

An `Overseer` looks at all of them at once. A producer repeats what was not answered; readers follow
each partition and begin again now and then. In the end all agree again, and the logs hold what was
sent, each batch once and in order.
"""

from __future__ import annotations

import os
from functools import partial

import pytest

from odradek.simulation.faults.nemesis import Draw, Nemesis
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.server import mischief
from tests.kafka.server.ensembled import FLUSHED, SimulatedBrokers
from tests.kafka.server.overseer import Overseer
from tests.kafka.server.reading import CommittedReader, Values
from tests.kafka.server.sending import Sender, read_all
from tests.kafka.server.test_group_crashes import KILLS, OFTEN, POWER
from tests.kafka.server.witness import Violation

SEEDS = int(os.environ.get("SEEDS", "2"))
TOPIC = "t"
PARTITIONS = 3
BATCHES = 60
TROUBLE_S = 25.0


class ClusterWorld:
    """A cluster, a producer and readers."""

    def __init__(self, world: World, settings: str = "") -> None:
        self.world = world
        self.cluster = SimulatedBrokers(world, settings=settings)
        self.overseer = Overseer(self.cluster, TOPIC)
        self.sender = Sender(self.cluster.ids, TOPIC, PARTITIONS, BATCHES, 2 * TROUBLE_S / BATCHES)
        self.readers = [
            CommittedReader(self.cluster.ids, TOPIC, it, partial(self._check, it))
            for it in range(PARTITIONS)
        ]

    def start(self) -> None:
        self.world.host("sender").start(self.sender.run)
        for number, reader in enumerate(self.readers):
            self.world.host(f"r{number}").start(reader.run)
        self.overseer.watch()
        self.world.run_until(lambda: self.sender.acked > 0, 120)

    def everything(self, *, power: bool) -> tuple[Draw, ...]:
        """All that can go wrong."""
        return (*(POWER if power else KILLS), *mischief.draws(self.cluster))

    def haunt(self, seconds: float, draws: tuple[Draw, ...]) -> None:
        """Let things go wrong for a while."""
        evil = Nemesis(self.world, self.cluster.names, draws, OFTEN)
        evil.start()
        self.world.run_for(seconds)
        evil.stop()

    def judge(self) -> None:
        """All is sent, all agree, and the logs hold what was sent."""
        self.world.run_until(lambda: self.sender.acked == BATCHES, 300)
        self.world.run_until(self.overseer.is_whole, 120)
        for number, sent in enumerate(self.sender.sent):
            process = self.world.host("judge").start(partial(self._read, number))
            assert self.world.run_to_end(process, 120) == sent
        assert self.overseer.looks > 100

    def _check(self, partition: int, values: Values) -> None:
        if values != self.sender.sent[partition][: len(values)]:
            raise Violation(f"{partition}: what is read is not what was sent")

    async def _read(self, partition: int, environment: Environment) -> object:
        return await read_all(self.cluster.ids, TOPIC, partition, len(self.sender.sent[partition]))


def live(seed: int, *, power: bool = False, settings: str = "") -> None:
    with World(seed) as world:
        cluster = ClusterWorld(world, settings + (FLUSHED if power else ""))
        cluster.start()
        cluster.haunt(TROUBLE_S, cluster.everything(power=power))
        cluster.judge()


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_that_must_not_be_is_seen(seed: int) -> None:
    live(seed)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_nor_is_it_when_power_is_lost(seed: int) -> None:
    live(seed, power=True)
