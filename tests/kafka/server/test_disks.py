"""Disks that fill up or fail under a whole broker, with its controller and its ZooKeeper.

A full disk refuses what has no room and loses nothing; a failing one takes its own partitions
offline, and the controller learns of it; without any disk there is no broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import pytest

from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.server.node import BrokerNode, NoLogDirectory
from odradek.kafka.settings import BrokerSettings, Endpoint, SecurityProtocol
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from odradek.kafka.wire.messages.fetch import FetchResponse
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponsePartition,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.schema import Message
from odradek.runtime.properties import Properties
from odradek.runtime.tasks import TaskDied
from odradek.simulation.disk.device import Device, Operation
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.broker.asking import NAMES_VERSION, fetch_of, only, told, values_of
from tests.kafka.broker.members import serve_zookeeper
from tests.kafka.server.starting import started
from tests.kafka.storage.logs import batch_of

PROPERTIES = b"""
broker.id=1
listeners=PLAINTEXT://broker:9092
log.dirs=/one,/two
zookeeper.connect=zookeeper:2181/kafka
log.initial.task.delay.ms=100
log.retention.ms=-1
log.flush.offset.checkpoint.interval.ms=300
replica.high.watermark.checkpoint.interval.ms=300
"""
ENDPOINT = Endpoint("PLAINTEXT", "broker", 9092, SecurityProtocol.PLAINTEXT)
STORAGE_ERROR = ErrorCode.KAFKA_STORAGE_ERROR
ALWAYS = 1_000_000
Answer = TypeVar("Answer", bound=Message)


@dataclass(slots=True)
class Scene:
    """A broker with two log directories, as its client sees it, and its device."""

    world: World
    device: Device
    nodes: list[BrokerNode] = field(default_factory=list)
    peer: Peer = field(default_factory=lambda: Peer(ENDPOINT, "client", 10.0))

    @property
    def node(self) -> BrokerNode:
        return self.nodes[-1]

    def directory_of(self, index: int) -> str:
        partition = self.node.broker.partitions.get("t", index)
        assert partition is not None
        return self.node.broker.directories.directory_of(partition.log).path

    async def serve(self, environment: Environment) -> None:
        settings = BrokerSettings(Properties.parse(PROPERTIES, "server.properties"))
        node = await started(settings, environment)
        self.nodes.append(node)
        with suppress(TaskDied):
            await node.tasks.until_stopped()

    async def ask(self, message: Message, version: int, kind: type[Answer]) -> Answer:
        answer = await self.peer.ask(message, version)
        assert isinstance(answer, kind)
        return answer

    async def create(self, partitions: int, **configs: object) -> None:
        given = [CreatableTopicConfig(name=key, value=str(it)) for key, it in configs.items()]
        topic = CreatableTopic(
            name="t",
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=given,
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        await self.until(partial(self._is_created, request))

    async def _is_created(self, request: CreateTopicsRequest) -> bool:
        answer = await self.ask(request, 5, CreateTopicsResponse)
        return answer.topics[0].error_code == ErrorCode.NONE

    async def delete(self) -> int:
        request = DeleteTopicsRequest(topic_names=["t"], timeout_ms=5000)
        answer = await self.ask(request, 5, DeleteTopicsResponse)
        return answer.responses[0].error_code

    async def put(self, index: int, *values: bytes) -> int:
        """The offset, or the error as a number below zero."""
        data = PartitionProduceData(index=index, records=batch_of(values))
        topic = TopicProduceData(name="t", partition_data=[data])
        request = ProduceRequest(acks=-1, timeout_ms=5000, topic_data=[topic])
        answer = only(await self.ask(request, 9, ProduceResponse))
        return -answer.error_code or answer.base_offset

    async def values(self, index: int) -> list[bytes | None]:
        found: list[bytes | None] = []
        while True:
            offsets = [-1] * index + [len(found)]
            answer = await self.ask(fetch_of(*offsets), NAMES_VERSION, FetchResponse)
            (data,) = told(answer)
            assert data.error_code == ErrorCode.NONE, ErrorCode(data.error_code)
            if not data.records:
                return found
            found += values_of(data)

    async def described(self, index: int) -> MetadataResponsePartition:
        topics = [MetadataRequestTopic(name="t")]
        answer = await self.ask(MetadataRequest(topics=topics), 9, MetadataResponse)
        return next(it for it in answer.topics[0].partitions if it.partition_index == index)

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        async with asyncio.timeout(60):
            while not await holds():
                await asyncio.sleep(0.1)


Story = Callable[[Scene], Awaitable[None]]


def play(story: Story, seed: int = 1) -> Scene:
    """Tell a story in a world of its own."""

    async def client(environment: Environment) -> None:
        async with asyncio.timeout(60):
            while not scene.nodes:
                await asyncio.sleep(0.1)
        await story(scene)

    with World(seed) as world:
        world.host("zookeeper").start(serve_zookeeper)
        broker = world.host("broker")
        scene = Scene(world, broker.storage.device)
        broker.start(scene.serve)
        world.run_to_end(world.host("client").start(client))
    return scene


def test_a_full_disk_refuses_what_has_no_room_and_keeps_the_rest() -> None:
    async def story(scene: Scene) -> None:
        await scene.create(2, **{"flush.messages": 1})
        assert await scene.put(0, b"a") == 0
        scene.device.fill()
        for _ in range(5):
            assert await scene.put(0, b"b" * 500) == -STORAGE_ERROR
            await asyncio.sleep(0.3)  # Checkpoints have no room either.
        assert await scene.values(0) == [b"a"]
        assert not scene.node.broker.directories.offline
        scene.device.repair()
        assert await scene.put(0, b"c") == 1
        assert await scene.values(0) == [b"a", b"c"]

    play(story)


def test_what_a_full_disk_has_left_is_whole_after_a_crash() -> None:
    async def story(scene: Scene) -> None:
        await scene.create(1, **{"flush.messages": 1})
        sent = []
        for number in range(20):
            value = b"%d" % number * 40
            if number % 3 == 1:
                scene.device.capacity_bytes = scene.device.used_bytes + 30 * (number % 4)
            if await scene.put(0, value) >= 0:
                sent.append(value)
            scene.device.repair()
        assert 10 < len(sent) < 20
        broker = scene.world.host("broker")
        scene.peer.close()
        broker.power_off()
        broker.start()
        async with asyncio.timeout(60):
            while len(scene.nodes) < 2:
                await asyncio.sleep(0.1)
        scene.peer = Peer(ENDPOINT, "client", 10.0)

        async def is_led() -> bool:
            return await scene.put(0, b"last") >= 0

        await scene.until(is_led)
        assert await scene.values(0) == [*sent, b"last"]

    play(story)


@pytest.mark.parametrize(("operation", "configs"), [("write", {}), ("sync", {"flush.messages": 1})])
def test_a_disk_that_fails_takes_its_own_partitions_with_it(
    operation: Operation, configs: dict[str, object]
) -> None:
    async def story(scene: Scene) -> None:
        await scene.create(2, **configs)
        assert await scene.put(0, b"a") == await scene.put(1, b"a") == 0
        bad, good = scene.directory_of(0), scene.directory_of(1)
        assert bad != good
        scene.device.fail(operation, ALWAYS, under=bad)
        assert await scene.put(0, b"b") == -STORAGE_ERROR
        assert await scene.put(0, b"b") == -STORAGE_ERROR
        assert await scene.put(1, b"b") == 1
        assert list(scene.node.broker.directories.offline) == [bad]

        async def is_led_by_nobody() -> bool:
            return (await scene.described(0)).leader_id == -1

        await scene.until(is_led_by_nobody)
        lost = await scene.described(0)
        assert lost.error_code == ErrorCode.LEADER_NOT_AVAILABLE
        assert (lost.isr_nodes, lost.offline_replicas) == ([1], [1])
        assert (await scene.described(1)).leader_id == 1
        assert await scene.put(1, b"c") == 2
        assert await scene.values(1) == [b"a", b"b", b"c"]
        assert scene.node.tasks.failure is None

    play(story)


def test_without_any_disk_there_is_no_broker() -> None:
    async def story(scene: Scene) -> None:
        await scene.create(2)
        scene.device.fail("write", ALWAYS, under=scene.directory_of(0))
        scene.device.fail("write", ALWAYS, under=scene.directory_of(1))
        assert await scene.put(0, b"a") == -STORAGE_ERROR
        with suppress(PeerLost):
            await scene.put(1, b"a")
        async with asyncio.timeout(10):
            while scene.node.tasks.failure is None:
                await asyncio.sleep(0.1)
        failure = scene.node.tasks.failure
        assert isinstance(failure.__cause__, NoLogDirectory)
        assert str(failure.__cause__) == "no log directory is left"

    play(story)


def test_a_deletion_that_may_come_back_is_not_called_done() -> None:
    async def story(scene: Scene) -> None:
        await scene.create(1)
        path = scene.directory_of(0)
        scene.device.fail("sync", ALWAYS, under=path)
        await scene.delete()

        async def is_offline() -> bool:
            return path in scene.node.broker.directories.offline

        await scene.until(is_offline)
        assert scene.node.tasks.failure is None

    play(story)


async def without_room(scene: Scene) -> None:
    """A topic is created on a full disk, and nobody can lead it."""
    scene.device.fill()
    await scene.create(2)

    async def is_led_by_nobody() -> bool:
        return (await scene.described(0)).leader_id == -1

    await scene.until(is_led_by_nobody)
    assert not scene.node.broker.directories.offline


def test_a_topic_that_found_no_room_is_led_as_soon_as_there_is_some() -> None:
    async def story(scene: Scene) -> None:
        await without_room(scene)
        for _ in range(5):
            assert await scene.put(0, b"a") < 0
            await asyncio.sleep(1)
        scene.device.repair()

        async def is_led() -> bool:
            return await scene.put(0, b"a") >= 0 and await scene.put(1, b"b") >= 0

        await scene.until(is_led)
        assert await scene.values(0) == [b"a"]
        assert (await scene.described(0)).offline_replicas == []

    play(story)


def test_a_topic_that_never_had_room_can_be_deleted() -> None:
    async def story(scene: Scene) -> None:
        await without_room(scene)
        await scene.delete()
        scene.device.repair()
        await scene.create(1)

        async def is_led() -> bool:
            return await scene.put(0, b"a") == 0

        await scene.until(is_led)
        assert scene.node.broker.partitions.get("t", 1) is None

    play(story)
