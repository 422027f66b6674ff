"""The pieces of a broker that serve data, in the test's own loop: real files, real sockets.

There is no ZooKeeper and no controller: a test says itself who leads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeVar, cast

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.coordinators import Coordinators
from odradek.kafka.broker.fetch_sessions import FetchSessions
from odradek.kafka.broker.log_settings import log_settings
from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.broker.meters import Meters
from odradek.kafka.broker.parked import Parked
from odradek.kafka.broker.partition import Partition, Surroundings
from odradek.kafka.broker.partitions import Partitions
from odradek.kafka.server.clients import Clients
from odradek.kafka.server.connection import Connection
from odradek.kafka.server.dispatch import HANDLERS
from odradek.kafka.settings import BrokerSettings, Layers, TopicSettings
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.connection import ClientConnection, Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leader_and_isr import LeaderAndIsrPartitionState
from odradek.kafka.wire.schema import Message
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.disk import Disk
from odradek.runtime.logs import NodeLog
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.properties import Properties
from odradek.runtime.tasks import Tasks

HOST = "127.0.0.1"
BROKER_ID = 1
TOPIC = "t"
TOPIC_ID = bytes(range(1, 17))
PATIENCE_S = 20.0
NONE: Mapping[str, object] = MappingProxyType({})
DEFAULTS = {"zookeeper.connect": "nowhere:2181", "log.index.size.max.bytes": 1 << 16}
Answer = TypeVar("Answer", bound=Message)
Story = Callable[["Served"], Awaitable[None]]


class FixedConfigs:
    """Settings that only a test changes."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        texts = {key: str(value) for key, value in settings.items()}
        self.layers = Layers(BrokerSettings(Properties.of(texts, "server.properties")))
        self.topics: dict[str, dict[str, str]] = {}

    def topic_settings(self, topic: str) -> TopicSettings:
        return self.layers.topics.overridden(self.topics.get(topic, {}), topic)


class Served:
    """A broker's data path, and what a test does to it."""

    def __init__(self, broker: Broker, configs: FixedConfigs) -> None:
        self.broker = broker
        self.configs = configs
        self.clients = Clients(broker, HANDLERS)
        self.port = 0
        self.connected: list[Client] = []

    def lead(
        self,
        topic: str = TOPIC,
        index: int = 0,
        *,
        epoch: int = 0,
        replicas: tuple[int, ...] = (BROKER_ID,),
        isr: tuple[int, ...] | None = None,
        topic_id: bytes = TOPIC_ID,
        is_new: bool = True,
        overrides: Mapping[str, object] = NONE,
    ) -> Partition:
        """Have this broker lead a partition; overrides are the topic's settings."""
        if overrides:
            self.configs.topics[topic] = {key: str(value) for key, value in overrides.items()}
        state = state_of(index, BROKER_ID, epoch, replicas, isr, is_new=is_new)
        error = self.broker.partitions.lead(state, topic, topic_id)
        assert error == ErrorCode.NONE, error
        partition = self.broker.partitions.get(topic, index)
        assert partition is not None
        return partition

    async def ask(
        self, message: Message, version: int, kind: type[Answer], client_id: str = "test"
    ) -> Answer:
        """What the handler answers, as it would arrive."""
        response = await self.tell(message, version, client_id)
        assert isinstance(response, kind), response
        return carried(response, version)

    async def tell(self, message: Message, version: int, client_id: str = "test") -> Message | None:
        key = type(message).__wire__.api_key
        assert key is not None
        size = sum(map(len, encode(message, version)))
        request = Request(APIS[key], version, 0, client_id, message, size=size)
        return await HANDLERS[key](carried(message, version), request, self.broker)

    async def connect(self, client_id: str | None = "test") -> Client:
        reader, writer = await asyncio.open_connection(HOST, self.port, limit=1 << 26)
        client = Client(reader, writer, client_id)
        self.connected.append(client)
        return client


def state_of(
    index: int,
    leader: int,
    epoch: int,
    replicas: tuple[int, ...],
    isr: tuple[int, ...] | None = None,
    *,
    is_new: bool = False,
) -> LeaderAndIsrPartitionState:
    return LeaderAndIsrPartitionState(
        partition_index=index,
        controller_epoch=1,
        leader=leader,
        leader_epoch=epoch,
        isr=list(replicas if isr is None else isr),
        partition_epoch=epoch,
        replicas=list(replicas),
        is_new=is_new,
    )


class Client:
    """One connection that says what it is told to, and reads answers in their order."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        client_id: str | None,
    ) -> None:
        self.wire = ClientConnection(client_id)
        self.reader = reader
        self.writer = writer
        self._answers: list[Message] = []

    def send(self, message: Message, version: int, *, is_answered: bool = True) -> None:
        self.wire.send(message, version, is_answered=is_answered)
        self.writer.writelines(self.wire.take_output())

    async def receive(self) -> Message:
        """The next answer."""
        async with asyncio.timeout(PATIENCE_S):
            while not self._answers:
                data = await self.reader.read(1 << 20)
                if not data:
                    raise ConnectionError("the broker has ended the connection")
                self._answers += (each.message for each in self.wire.receive(data))
        return self._answers.pop(0)

    async def ask(self, message: Message, version: int, kind: type[Answer]) -> Answer:
        self.send(message, version)
        answer = await self.receive()
        assert isinstance(answer, kind)
        return answer

    async def is_ended(self) -> bool:
        """Wait until the broker ends the connection."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read(1 << 20) == b""
            except ConnectionError:
                return True

    async def close(self) -> None:
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            return


def carried(message: Answer, version: int) -> Answer:
    """What the other side gets of a message, through its bytes."""
    return decode(type(message), version, b"".join(encode(message, version)))


def with_broker(**settings: object) -> Callable[[Story], Callable[[Path], None]]:
    """Make a test of a story: it is told with a broker of its own."""

    def test_of(story: Story) -> Callable[[Path], None]:
        async def tell(directory: Path) -> None:
            async with serving(directory, settings) as served:
                await story(served)

        def test(tmp_path: Path) -> None:
            asyncio.run(tell(tmp_path))

        test.__name__ = story.__name__
        return test

    return test_of


@asynccontextmanager
async def serving(
    directory: Path,
    settings: Mapping[str, object] = NONE,
    *,
    disk: Disk | None = None,
    directory_count: int = 1,
    clock: Callable[[], int] = wall_clock_ms,
) -> AsyncIterator[Served]:
    """A broker as long as the block; settings are lines of its server.properties."""
    texts = {key.replace("_", "."): value for key, value in settings.items()}
    configs = FixedConfigs({**DEFAULTS, **texts})
    note = NodeLog("broker 1")
    tasks = Tasks(note)
    directories = _directories(disk or OsDisk(), directory, directory_count, configs)
    served = Served(_broker(directories, configs, tasks, note, clock), configs)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(served.clients, "PLAINTEXT"), HOST, 0)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        served.clients.close()
        for client in served.connected:
            await client.close()
        served.broker.coordinators.close()
        tasks.stop()
        await tasks.until_stopped()
        served.broker.directories.close(wall_clock_ms())


def _directories(disk: Disk, directory: Path, count: int, configs: FixedConfigs) -> LogDirectories:
    def settings_of(topic: str) -> LogSettings:
        return log_settings(configs.topic_settings(topic), configs.layers.broker)

    directories = LogDirectories(OpenFiles(disk), settings_of, Random(1).random)
    directories.open([f"{directory}/data-{number}" for number in range(count)])
    for _ in directories.load():
        pass
    return directories


def _broker(
    directories: LogDirectories,
    configs: FixedConfigs,
    tasks: Tasks,
    note: NodeLog,
    clock: Callable[[], int],
) -> Broker:
    def settings() -> BrokerSettings:
        return configs.layers.broker

    random, meters, metadata = Random(1), Meters(), Metadata()
    surroundings = Surroundings(BROKER_ID, metadata, settings, configs.topic_settings, clock, clock)
    partitions = Partitions(directories, surroundings, meters, tasks, note, random)
    slots = settings().max_incremental_fetch_session_cache_slots
    nobody = cast(Any, SimpleNamespace())  # No ZooKeeper, no controller.
    broker = Broker(
        id=BROKER_ID,
        cluster_id="test",
        configs=cast(Any, configs),
        metadata=metadata,
        directories=directories,
        partitions=partitions,
        parked=Parked(),
        fetch_sessions=FetchSessions(slots, random, clock),
        keeper=nobody,
        controller=nobody,
        producer_ids=nobody,
        meters=meters,
        tasks=tasks,
        note=note,
        random=random,
        clock=clock,
        steady_clock=clock,
    )
    broker.coordinators = Coordinators(broker)
    return broker
