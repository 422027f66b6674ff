"""What a console learns from a real ZooKeeper, with either kind of watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import pytest

from odradek.console.events import Event, Kind
from odradek.console.watching import Watching
from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.controller.znodes import write_controller, write_state, write_topic
from odradek.testing import Cluster
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.wire.codes import CreateMode
from tests.processes import ServerProcess, free_port, properties_text

WITHIN_S = 30
STATE = "/brokers/topics/orders/partitions/0/state"


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def watched(
    cluster: Cluster, root: str, *, is_persistent: bool
) -> AsyncIterator[tuple[ZooKeeperClient, Watching, list[Event]]]:
    """A tree of its own, and somebody who watches it."""
    events: list[Event] = []
    async with ZooKeeperClient(cluster.zookeeper, random=Random()) as client:
        await client.create(root)
    connect_string = cluster.zookeeper + root
    async with ZooKeeperClient(connect_string, random=Random()) as client:
        for path in ("/brokers", "/brokers/ids", "/brokers/topics"):
            await client.create(path)
        watching = Watching(connect_string, Random(), events.extend, wants_persistent=is_persistent)
        task = asyncio.get_running_loop().create_task(watching.run())
        try:
            await until(watching.loaded.is_set)
            yield client, watching, events
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def tell(client: ZooKeeperClient) -> None:
    """A topic is made, and its leader changes."""
    for path, data in (
        ("/brokers/topics/orders", write_topic(bytes(range(16)), {0: Assignment((1, 2))})),
        ("/brokers/topics/orders/partitions", b""),
        ("/brokers/topics/orders/partitions/0", b""),
        (STATE, write_state(PartitionState(1, 0, (1, 2), 1))),
    ):
        await client.create(path, data)


@pytest.mark.parametrize("is_persistent", [True, False], ids=["recursive", "one-shot"])
def test_what_happens_in_the_tree_is_told_as_it_happens(
    cluster: Cluster, is_persistent: bool
) -> None:
    async def story() -> None:
        root = f"/watched-{is_persistent}"
        async with watched(cluster, root, is_persistent=is_persistent) as (client, seer, events):
            assert seer.is_persistent is is_persistent
            assert "begins to look" in events[0].text
            await client.create("/controller", write_controller(7, 0), mode=CreateMode.EPHEMERAL)
            await until(lambda: seer.sights.controller == 7)
            await tell(client)
            await until(lambda: len(seer.sights.states) == 1)
            await client.set_data(STATE, write_state(PartitionState(2, 1, (2,), 1)))
            await until(lambda: events[-1].kind is Kind.ISR)
            await client.delete("/controller")
            await until(lambda: seer.sights.controller is None)
        assert [it.kind for it in events[1:]] == [
            Kind.ELECTION, Kind.TOPIC, Kind.LEADER, Kind.ISR, Kind.EXPIRY,
        ]  # fmt: skip

    asyncio.run(story())


def test_a_page_hears_of_every_path(cluster: Cluster) -> None:
    async def story() -> None:
        async with watched(cluster, "/heard", is_persistent=True) as (client, seer, _):
            heard: list[str] = []
            seer.listen(heard.append)
            await client.create("/anything", b"")
            await client.set_data("/anything", b"else")
            await until(lambda: len(heard) == 2)
            seer.unlisten(heard.append)
            assert heard == ["/anything", "/anything"]

    asyncio.run(story())


def test_what_happened_while_zookeeper_was_away_is_told_when_it_is_back(tmp_path: Path) -> None:
    port = free_port()
    config = {"dataDir": tmp_path / "data", "clientPort": port, "tickTime": 500}
    (tmp_path / "zoo.cfg").write_text(properties_text(config))
    server = ServerProcess(tmp_path, ["zookeeper", str(tmp_path / "zoo.cfg")], port)
    server.start()
    events: list[Event] = []

    async def story() -> None:
        watching = Watching(server.address, Random(), events.extend)
        task = asyncio.get_running_loop().create_task(watching.run())
        await until(watching.loaded.is_set)
        await asyncio.to_thread(server.kill)
        await until(lambda: watching.trouble)
        await asyncio.to_thread(server.start)
        async with ZooKeeperClient(server.address, random=Random()) as client:
            await client.create("/controller_epoch", b"5")
        await until(lambda: not watching.trouble and watching.sights.controller_epoch == 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    try:
        asyncio.run(story())
    finally:
        server.stop()
    texts = " | ".join(it.text for it in events)
    assert "the console sees nothing: ZooKeeper" in texts
    assert "the console sees again" in texts
    assert Kind.EPOCH in [it.kind for it in events]
