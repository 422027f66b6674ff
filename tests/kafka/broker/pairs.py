"""Two whole brokers in the test's own loop, with a ZooKeeper beside them and sockets between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.properties import Properties
from tests.kafka.api.administered import DEFAULTS, LIMIT_S, Administered
from tests.kafka.api.grouped import SMALL, init
from tests.kafka.api.transacting import Transactor
from tests.zookeeper.server.in_process import HOST
from tests.zookeeper.server.in_process import serving as zookeeper_serving

QUICK = {"request.timeout.ms": "2000", "controlled.shutdown.enable": "false"}


class Pair:
    """Two brokers; partition 0 of `t` is the first one's, partition 1 the second one's."""

    def __init__(self, directory: Path, zookeeper_port: int, settings: Mapping[str, Any]) -> None:
        self._directory = directory
        self._settings = {**SMALL, **settings}
        self._connect = f"{HOST}:{zookeeper_port}"
        self.nodes: dict[int, BrokerNode] = {}

    def __getitem__(self, broker_id: int) -> Administered:
        return Administered(self.nodes[broker_id].broker)

    async def start(self, broker_id: int) -> None:
        texts = {key.replace("_", "."): str(value) for key, value in self._settings.items()}
        own = {"broker.id": str(broker_id), "log.dirs": f"{self._directory}/{broker_id}"}
        properties = Properties.of({**DEFAULTS, **QUICK, **texts, **own}, "server.properties")
        node = BrokerNode(BrokerSettings(properties), OsDisk(), Random(broker_id))
        await node.start(self._connect)
        self.nodes[broker_id] = node

    async def stop(self, broker_id: int) -> None:
        await self.nodes.pop(broker_id).stop()

    async def stop_all(self) -> None:
        for broker_id in list(self.nodes):
            await self.stop(broker_id)

    @property
    def controller(self) -> Administered:
        (found,) = (it.broker for it in self.nodes.values() if it.broker.controller.is_active)
        return Administered(found)

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            await asyncio.sleep(0.002)

    async def create(self) -> None:
        assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=[index + 1])
            for index in (0, 1)
        ]
        topic = CreatableTopic(
            name="t", num_partitions=-1, replication_factor=-1, assignments=assignments, configs=[]
        )
        message = CreateTopicsRequest(topics=[topic], timeout_ms=20_000, validate_only=False)
        response = await self.controller.ask(message, 7, CreateTopicsResponse)
        assert response.topics[0].error_code == 0, response

    async def coordinator(self, key_type: int, key: str) -> int:
        message = FindCoordinatorRequest(key=key, key_type=key_type)
        while True:
            response = await self.controller.ask(message, 3, FindCoordinatorResponse)
            if not response.error_code:
                return response.node_id

    async def key_of(self, key_type: int, broker_id: int) -> str:
        """An id that this broker coordinates."""
        keys = (f"k{number}" for number in range(100))
        for key in keys:
            if await self.coordinator(key_type, key) == broker_id:
                return key
        raise AssertionError

    async def begin(self, transactional_id: str, broker_id: int) -> Transactor:
        told = await init(self[broker_id], transactional_id)
        while told.error_code:
            await asyncio.sleep(0.002)
            told = await init(self[broker_id], transactional_id)
        return Transactor(self[broker_id], told, transactional_id)

    def stable_offset(self, index: int) -> int:
        partition = self[index + 1].broker.partitions.get("t", index)
        assert partition is not None
        return partition.log.last_stable_offset


@asynccontextmanager
async def pair(directory: Path, settings: Mapping[str, Any]) -> AsyncIterator[Pair]:
    async with AsyncExitStack() as stack:
        zookeeper = await stack.enter_async_context(zookeeper_serving(directory / "zookeeper"))
        both = Pair(directory, zookeeper.port, settings)
        stack.push_async_callback(both.stop_all)
        for broker_id in (1, 2):
            await both.start(broker_id)
        await both.until(
            lambda: (
                all(len(it.broker.metadata.brokers) == 2 for it in both.nodes.values())
                and any(it.broker.controller.is_active for it in both.nodes.values())
            )
        )
        await both.create()
        for key_type, topic in ((0, CONSUMER_OFFSETS), (1, TRANSACTION_STATE)):
            await both.coordinator(key_type, "x")
            await both.until(
                lambda topic=topic: all(  # type: ignore[misc]
                    topic in it.broker.metadata.topics for it in both.nodes.values()
                )
            )
        yield both


def tell(directory: Path, story: Callable[[Pair], Awaitable[None]], **settings: Any) -> None:
    """Tell a story of two brokers; settings are lines of their server.properties."""

    async def told() -> None:
        async with asyncio.timeout(LIMIT_S), pair(directory, settings) as both:
            await story(both)

    asyncio.run(told())
