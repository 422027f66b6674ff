"""The watch on a real ZooKeeper node of ours, in virtual time, while connections break."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster_watch import ClusterWatch
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.news import News
from odradek.kafka.client.zookeeper_servers import ZooKeeperServers
from odradek.kafka.controller import paths
from odradek.kafka.controller.image import Assignment, PartitionState
from odradek.kafka.controller.registration import Registration, write_registration
from odradek.kafka.controller.znodes import write_state, write_topic
from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.storage.names import TopicPartition as Place
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.states import State
from odradek.zookeeper.wire.codes import CreateMode
from tests.zookeeper.client.test_mutual_exclusion import serve

CHROOT = "/kafka-main"
T0 = TopicPartition("t", 0)
STATE = paths.state(Place(*T0))


class Stage:
    """A watcher, and somebody who does to the znodes what brokers do."""

    def __init__(self, world: World, environment: Environment, news: News) -> None:
        self.world = world
        self.news = news
        self.client = ZooKeeperClient(f"server{CHROOT}", random=environment.random)
        self.root = ZooKeeperClient("server", random=environment.random)

    async def make_paths(self) -> None:
        await self.root.create(CHROOT)
        for path in paths.AT_START:
            await self.client.create(path)

    async def register(self, broker: int, port: int) -> None:
        endpoint = Endpoint("PLAINTEXT", "host", port, SecurityProtocol.PLAINTEXT)
        data = write_registration(Registration(broker, (endpoint,)), 0)
        await self.client.create(paths.broker(broker), data, mode=CreateMode.EPHEMERAL)

    async def make_topic(self) -> None:
        topic = write_topic(bytes(range(16)), {0: Assignment((1, 2))})
        await self.client.create(paths.topic("t"), topic)
        await self.client.create(paths.partitions("t"))
        await self.client.create(paths.partition(Place(*T0)))
        await self.client.create(STATE, self.state(0))

    async def lead(self, epoch: int) -> None:
        await self.client.set_data(STATE, self.state(epoch))

    @staticmethod
    def state(epoch: int) -> bytes:
        return write_state(PartitionState(1, epoch, (1, 2), 1))

    async def until(self, condition: Callable[[], object]) -> float:
        """Wait for it; how many virtual seconds that took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while not condition():
            await asyncio.sleep(0.001)
        return loop.time() - began


def play(story: Callable[[Stage], Awaitable[None]], seed: int) -> list[Address]:
    """Tell a story to a watcher on a host of its own; whom it cut off."""
    cut: list[Address] = []
    news = News("zk://server", cut.append)

    async def watch(environment: Environment) -> None:
        watching = ClusterWatch(ZooKeeperServers(f"server{CHROOT}"), environment.random, news)
        watching.follow("t")
        await watching.run()

    async def tell(environment: Environment) -> None:
        stage = Stage(world, environment, news)
        async with stage.client, stage.root:
            await story(stage)

    with World(seed) as world:
        world.host("server").start(serve)
        world.host("watcher").start(watch)
        teller = world.host("teller").start(tell)
        world.run_until(lambda: teller.is_dead, 300)
    return cut


SOON_S = 0.1


@pytest.mark.parametrize("seed", range(3))
def test_a_broker_is_told_of_when_it_comes_and_when_it_goes(seed: int) -> None:
    async def story(stage: Stage) -> None:
        news = stage.news
        await stage.until(lambda: "no broker has ever registered below /kafka-main" in news.trouble)
        await stage.make_paths()
        await stage.until(lambda: "no broker is registered" in news.trouble)
        await stage.register(1, 9001)
        await stage.register(2, 9002)
        assert await stage.until(lambda: len(news.addresses()) == 2) < SOON_S
        assert not news.trouble
        await stage.client.delete(paths.broker(1))
        assert await stage.until(lambda: news.is_gone(Address("host", 9001))) < SOON_S
        assert news.addresses() == [Address("host", 9002)]

    assert play(story, seed) == [Address("host", 9001)]


@pytest.mark.parametrize("seed", range(3))
def test_an_election_is_told_of_and_isr_changes_are_no_news(seed: int) -> None:
    async def story(stage: Stage) -> None:
        news = stage.news
        await stage.make_paths()
        await stage.register(1, 9001)
        await stage.make_topic()
        await stage.lead(1)
        assert await stage.until(lambda: news.is_behind("t", {0: 0})) < SOON_S
        assert not news.is_behind("t", {0: 1})
        count = news.count
        await stage.client.set_data(STATE, write_state(PartitionState(1, 1, (1,), 1)))
        await stage.register(2, 9002)  # What comes after it is there: so it has been read.
        await stage.until(lambda: len(news.addresses()) == 2)
        assert news.count == count + 1
        await stage.client.delete(STATE)
        assert await stage.until(lambda: not news.is_behind("t", {0: 0})) < SOON_S

    assert play(story, seed) == []


@pytest.mark.parametrize("seed", range(3))
def test_what_happened_while_zookeeper_could_not_be_reached_is_found_out(seed: int) -> None:
    async def story(stage: Stage) -> None:
        news = stage.news
        await stage.make_paths()
        await stage.register(1, 9001)
        await stage.register(2, 9002)
        await stage.make_topic()
        await stage.until(lambda: len(news.addresses()) == 2)
        stage.world.network.cut("watcher", "server")
        await stage.until(lambda: news.trouble)
        assert len(news.addresses()) == 2
        await stage.client.delete(paths.broker(1))
        await stage.lead(3)
        await asyncio.sleep(seed * 20)  # Its session lasts, or does not.
        stage.world.network.heal("watcher", "server")
        await stage.until(lambda: not news.trouble and news.is_behind("t", {0: 2}))
        assert news.addresses() == [Address("host", 9002)]
        assert stage.client.state is State.CONNECTED

    assert play(story, seed) == [Address("host", 9001)]
