"""A broker that loses its power, or is killed, at any moment: what it acknowledged is there.

A producer sends batches one after another and repeats, with the same sequence, whatever was not
answered, across all lives of its broker. In the end the log must hold every batch once, in order:
what was answered was not lost, what was not answered was recognised if it had come. At each start,
logs and indexes must agree.
"""

from __future__ import annotations

import asyncio
import os
from functools import partial
from random import Random
from typing import TypeVar

import pytest

from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.settings import BrokerSettings, Endpoint, SecurityProtocol
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from odradek.kafka.wire.messages.produce import ProduceResponse
from odradek.kafka.wire.records import Record
from odradek.kafka.wire.schema import Message
from odradek.runtime.properties import Properties
from odradek.simulation.errors import NodeFailed
from odradek.simulation.hosts import Host
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.asking import (
    NAMES_VERSION,
    PRODUCE_VERSION,
    fetch_of,
    only,
    produce_of,
    told,
    values_of,
)
from tests.kafka.broker.members import serve_zookeeper
from tests.kafka.server.starting import started

SEEDS = int(os.environ.get("SEEDS", "4"))
LIVES = 4
BATCHES = 60
KEYS = 7
TOPIC = "t"
PROPERTIES = b"""
broker.id=1
listeners=PLAINTEXT://broker:9092
log.dirs=/one,/two
zookeeper.connect=zookeeper:2181/kafka
zookeeper.session.timeout.ms=2000
log.segment.bytes=3000
log.index.interval.bytes=200
log.flush.offset.checkpoint.interval.ms=200
replica.high.watermark.checkpoint.interval.ms=100
log.initial.task.delay.ms=100
log.retention.check.interval.ms=500
log.retention.ms=-1
"""
ENDPOINT = Endpoint("PLAINTEXT", "broker", 9092, SecurityProtocol.PLAINTEXT)
RETRIABLE = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.REQUEST_TIMED_OUT,
}
Answer = TypeVar("Answer", bound=Message)


async def serve(environment: Environment) -> None:
    settings = BrokerSettings(Properties.parse(PROPERTIES, "server.properties"))
    node = await started(settings, environment)
    await node.tasks.until_stopped()


class Producer:
    """Sends numbered batches until each is answered, however often the broker dies."""

    def __init__(self, flush_messages: int) -> None:
        self.sent: list[list[bytes]] = []
        self.answered = 0
        self.found: list[bytes | None] = []
        self.configs = {"flush.messages": str(flush_messages)}

    async def run(self, environment: Environment) -> None:
        self._peer = Peer(ENDPOINT, "producer", 5.0)
        self._random = environment.random
        await self._create_topic()
        producer_id = await self._new_producer_id()
        sequence = 0
        for number in range(BATCHES):
            values = self._draw(number)
            self.sent.append(values)
            envelope = Envelope(producer_id=producer_id, producer_epoch=0, base_sequence=sequence)
            await self._produce(values, envelope)
            self.answered += 1
            sequence += len(values)
        await self._read_all()

    def _draw(self, number: int) -> list[bytes]:
        count, size = self._random.randrange(1, 5), self._random.randrange(1, 300)
        return [b"%d.%d." % (number, index) + b"x" * size for index in range(count)]

    async def _create_topic(self) -> None:
        configs = [CreatableTopicConfig(name=key, value=text) for key, text in self.configs.items()]
        topic = CreatableTopic(
            name=TOPIC, num_partitions=1, replication_factor=1, assignments=[], configs=configs
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=5000)
        while True:
            answer = await self._ask(request, 5, CreateTopicsResponse)
            code = answer.topics[0].error_code
            if code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
                return
            await self._pause(code)

    async def _new_producer_id(self) -> int:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
        while True:
            answer = await self._ask(request, 4, InitProducerIdResponse)
            if answer.error_code == ErrorCode.NONE:
                return answer.producer_id
            await self._pause(answer.error_code)

    async def _produce(self, values: list[bytes], envelope: Envelope) -> None:
        records = [Record(n, 1000, key_of(value), value) for n, value in enumerate(values)]
        request = produce_of(bytes(write_batch(records, envelope)), topic=TOPIC)
        while True:
            code = only(await self._ask(request, PRODUCE_VERSION, ProduceResponse)).error_code
            if code == ErrorCode.NONE:
                return
            await self._pause(code)

    async def _read_all(self) -> None:
        wanted = sum(map(len, self.sent))
        while len(self.found) < wanted:
            request = fetch_of(len(self.found), topic=TOPIC, wait_ms=100)
            (data,) = told(await self._ask(request, NAMES_VERSION, FetchResponse))
            if data.error_code:
                await self._pause(data.error_code)
            self.found += values_of(data)

    async def _ask(self, request: Message, version: int, kind: type[Answer]) -> Answer:
        while True:
            try:
                answer = await self._peer.ask(request, version)
            except PeerLost:
                await asyncio.sleep(0.05)
                continue
            assert isinstance(answer, kind)
            return answer

    async def _pause(self, code: int) -> None:
        assert code in RETRIABLE, ErrorCode(code)
        await asyncio.sleep(0.05)


def key_of(value: bytes) -> bytes:
    return b"key-%d" % (sum(value) % KEYS)


def crash(broker: Host, random: Random, *, power: bool) -> None:
    if power and random.random() < 0.7:
        broker.power_off()
    else:
        broker.kill()


def has_answered(producer: Producer, count: int) -> bool:
    return producer.answered >= count


def live(seed: int, *, flush_messages: int, power: bool) -> Producer:
    """Several lives of one broker under one producer."""
    producer = Producer(flush_messages)
    with World(seed) as world:
        random = world.stream("crashes")
        world.host("zookeeper").start(serve_zookeeper)
        broker = world.host("broker")
        broker.start(serve)
        producing = world.host("producer").start(producer.run)
        for life in range(1, LIVES):
            world.run_until(partial(has_answered, producer, life * BATCHES // LIVES))
            world.run_for(random.uniform(0, 0.05))
            crash(broker, random, power=power)
            broker.start(serve)
        world.run_to_end(producing)
    return producer


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_was_flushed_survives_a_loss_of_power(seed: int) -> None:
    producer = live(seed, flush_messages=1, power=True)
    assert producer.found == [value for values in producer.sent for value in values]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_what_was_acknowledged_survives_a_kill(seed: int) -> None:
    producer = live(seed, flush_messages=10_000, power=False)
    assert producer.found == [value for values in producer.sent for value in values]


def test_without_flushes_a_loss_of_power_is_seen() -> None:
    """The check would find a loss: a broker that has forgotten refuses what follows."""
    with pytest.raises(NodeFailed, match=r"OUT_OF_(ORDER|RANGE)"):
        for seed in range(10):
            live(seed, flush_messages=10_000, power=True)
