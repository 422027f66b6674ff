"""A broker that dies between any two writes while a replica moves from directory to directory.

A producer goes on across all lives, and somebody has the replica moved to and fro. At each start
the replica is in one directory, whole; in the end every batch is there once, in order, and nothing
is left of the moves.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.storage.names import Purpose, TopicPartition, read_directory_name
from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from odradek.runtime.properties import Properties
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.members import serve_zookeeper
from tests.kafka.server.boundaries import CountedDevice, counted
from tests.kafka.server.starting import started
from tests.kafka.server.test_crashes import ENDPOINT, PROPERTIES, TOPIC, Producer

SEEDS = int(os.environ.get("SEEDS", "1"))
STRIDE = max(1, 2000 // SEEDS)  # Every boundary, if there are many seeds...
AT_ONCE = 18  # ...and some of these writes in any case, which let a replica take its place.
STEP = 1 if SEEDS > 1 else 5
MOVES_MAX = 20
AGAIN = 35  # Writes after the first death comes another.
WHERE = TopicPartition(TOPIC, 0)
MOVING = b"""
replica.fetch.max.bytes=1000
log.segment.delete.delay.ms=50
"""
EXPECTED = {
    ErrorCode.NONE,
    ErrorCode.REPLICA_NOT_AVAILABLE,  # It has just begun, and nobody has said who leads.
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


class SlowProducer(Producer):
    """Leaves others time to move what it writes to."""

    async def _produce(self, values: list[bytes], envelope: Envelope) -> None:
        await super()._produce(values, envelope)
        await asyncio.sleep(self._random.uniform(0, 0.02))


class Mover:
    """Has the replica moved to the directory where it is not, again and again."""

    def __init__(self) -> None:
        self.node: BrokerNode | None = None
        self.moves = 0
        self._is_ending = False
        self._settings = BrokerSettings(Properties.parse(PROPERTIES + MOVING, "server"))

    async def serve(self, environment: Environment) -> None:
        self.node = None
        node = await started(self._settings, environment)
        assert self.names(node, Purpose.LIVE) <= 1
        self.node = node
        await node.tasks.until_stopped()

    def names(self, node: BrokerNode, purpose: Purpose) -> int:
        """How many directories of the replica there are on disk, for one purpose."""
        found = [
            read_directory_name(name)
            for directory in node.broker.directories.online
            for name in directory.files.disk.list_directory(directory.path)
        ]
        return found.count((WHERE, purpose))

    async def run(self, environment: Environment) -> None:
        peer = Peer(ENDPOINT, "mover", 5.0)
        while not self._is_ending and self.moves < MOVES_MAX:
            await asyncio.sleep(0.02)
            if self.node is None or (target := self._other()) is None:
                continue
            topic = AlterReplicaLogDirTopic(name=TOPIC, partitions=[0])
            wanted = [AlterReplicaLogDir(path=target, topics=[topic])]
            try:
                answer = await peer.ask(AlterReplicaLogDirsRequest(dirs=wanted), 2)
            except PeerLost:
                continue
            assert isinstance(answer, AlterReplicaLogDirsResponse)
            assert ErrorCode(answer.results[0].partitions[0].error_code) in EXPECTED

    def _other(self) -> str | None:
        """Where it is not, unless it is on its way."""
        assert self.node is not None
        directories = self.node.broker.directories.online
        if any(WHERE in it.futures for it in directories):
            return None
        away = [it.path for it in directories if WHERE not in it.logs]
        self.moves += len(away) == 1
        return away[0] if len(away) == 1 else None

    def end(self) -> None:
        self._is_ending = True

    def is_settled(self) -> bool:
        node = self.node
        if node is None or self.names(node, Purpose.LIVE) != 1:
            return False
        return not self.names(node, Purpose.FUTURE) and not self.names(node, Purpose.DELETE)


def live(
    at: tuple[int, ...], *, power: bool, arrivals: Arrivals | None = None
) -> tuple[CountedDevice, Mover]:
    """One story; the broker dies at these writes."""
    producer, mover = SlowProducer(flush_messages=1 if power else 10_000), Mover()
    with World(seed=5) as world:
        world.host("zookeeper").start(serve_zookeeper)
        broker = world.host("broker")
        device = counted(broker, power=power)
        if arrivals is not None:
            arrivals.device = device
        broker.start(mover.serve)
        world.run_until(lambda: mover.node is not None and mover.node.broker.is_known)
        producing = world.host("producer").start(producer.run)
        world.run_until(lambda: producer.answered > 3)
        device.begin(*at)
        world.host("mover").start(mover.run)
        world.run_to_end(producing, 60)
        mover.end()
        world.run_until(mover.is_settled, 60)
    assert producer.found == [value for values in producer.sent for value in values]
    return device, mover


class Arrivals(logging.Handler):
    """Notes at which write the broker says that the replica has arrived."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.counts: list[int] = []
        self.device: CountedDevice | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.device is not None and f"{WHERE} is in /" in record.getMessage():
            self.counts.append(self.device.count)


@contextmanager
def noted() -> Iterator[Arrivals]:
    logger, arrivals = logging.getLogger("odradek"), Arrivals()
    level = logger.level
    logger.addHandler(arrivals)
    logger.setLevel(logging.INFO)
    try:
        yield arrivals
    finally:
        logger.setLevel(level)
        logger.removeHandler(arrivals)


@pytest.mark.parametrize("power", [False, True], ids=["killed", "without power"])
def test_a_replica_that_moves_is_whole_in_one_place_whenever_its_broker_dies(power: bool) -> None:
    with noted() as arrivals:
        device, mover = live((), power=power, arrivals=arrivals)
    assert mover.moves > 2
    first = arrivals.counts[0]
    boundaries = {*range(first - AT_ONCE, first + 3, STEP), *range(1, device.count + 1, STRIDE)}
    for at in sorted(boundaries):
        assert live((at, at + AGAIN), power=power)[0].deaths >= 1
