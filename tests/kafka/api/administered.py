"""A broker that administers a cluster of its own: a whole node, and a ZooKeeper beside it.

All in the test's own loop. Only the sockets of clients are left out: a test asks the handlers.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from odradek.kafka.broker.broker import Broker
from odradek.kafka.server.dispatch import HANDLERS
from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.wire.apis import APIS
from odradek.kafka.wire.connection import Origin, Request
from odradek.kafka.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from odradek.kafka.wire.schema import Message
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.properties import Properties
from tests.kafka.broker.served import carried
from tests.zookeeper.server.in_process import HOST
from tests.zookeeper.server.in_process import serving as zookeeper_serving

LIMIT_S = 60
CLIENTS, OTHERS = "CLIENTS", "OTHERS"  # Listeners.
DEFAULTS = {
    "broker.id": "1",
    "listeners": f"{CLIENTS}://{HOST}:0,{OTHERS}://{HOST}:0",
    "listener.security.protocol.map": f"{CLIENTS}:PLAINTEXT,{OTHERS}:PLAINTEXT",
    "inter.broker.listener.name": CLIENTS,
}
Answer = TypeVar("Answer", bound=Message)
Story = Callable[["Administered"], Awaitable[None]]


class Administered:
    """A broker, and how a test speaks to it."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    async def ask(
        self, message: Message, version: int, kind: type[Answer], listener: str = CLIENTS
    ) -> Answer:
        """What a client that came by a listener is answered."""
        response = await serve(self.broker, message, version, listener)
        assert isinstance(response, kind), response
        return carried(response, version)

    async def create(self, name: str, partitions: int = 1, **fields: Any) -> None:
        """Have a topic that is led."""
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=fields.get("configs", []),
        )
        message = CreateTopicsRequest(topics=[topic], timeout_ms=20_000, validate_only=False)
        response: Any = await serve(self.broker, message, 7, CLIENTS)
        assert response.topics[0].error_code == 0, response

    def port(self, listener: str) -> int:
        endpoint = self.broker.metadata.endpoint(self.broker.id, listener)
        assert endpoint is not None
        return endpoint.port

    async def until(self, condition: Callable[[], object]) -> None:
        """Let others work until a condition holds."""
        while not condition():
            await asyncio.sleep(0.001)


async def serve(broker: Broker, message: Message, version: int, listener: str) -> Message | None:
    key = type(message).__wire__.api_key
    assert key is not None
    request = Request(APIS[key], version, 0, "test", message, Origin(listener, HOST))
    return await HANDLERS[key](carried(message, version), request, broker)


def administered(
    directory_count: int = 1, **settings: object
) -> Callable[[Story], Callable[[Path], None]]:
    """Make a test of a story: it is told with a broker of its own."""

    def test_of(story: Story) -> Callable[[Path], None]:
        async def tell(directory: Path) -> None:
            stage = administering(directory, settings, directory_count)
            async with asyncio.timeout(LIMIT_S), stage as broker:
                await story(broker)

        def test(tmp_path: Path) -> None:
            asyncio.run(tell(tmp_path))

        test.__name__, test.__doc__ = story.__name__, story.__doc__
        return test

    return test_of


@asynccontextmanager
async def administering(
    directory: Path, settings: Mapping[str, object], directory_count: int = 1
) -> AsyncIterator[Administered]:
    """A broker as long as the block; settings are lines of its server.properties."""
    async with zookeeper_serving(directory / "zookeeper") as zookeeper:
        texts = {key.replace("_", "."): str(value) for key, value in settings.items()}
        paths = [f"{directory}/data-{number}" for number in range(directory_count)]
        given = {**DEFAULTS, "log.dirs": ",".join(paths), **texts}
        properties = Properties.of(given, "server.properties")
        node = BrokerNode(BrokerSettings(properties), OsDisk(), Random(1))
        await node.start(f"{HOST}:{zookeeper.port}")
        try:
            assert await node.broker.metadata.until(lambda: node.broker.metadata.brokers, LIMIT_S)
            yield Administered(node.broker)
        finally:
            await node.stop()
