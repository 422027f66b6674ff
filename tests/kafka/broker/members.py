"""Brokers of a cluster in a simulated world, with our own ZooKeeper; and stories about them.

A member is all of a broker but its operators and its upkeep: it has a session, a registration, a
controller, logs on its host's disk, and a listener that speaks Kafka.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from random import Random

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.channel import ControllerChannel
from odradek.kafka.broker.configs import Configs
from odradek.kafka.broker.controlling import ControllerShell
from odradek.kafka.broker.features import Features
from odradek.kafka.broker.fetch_sessions import FetchSessions
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.links import Links
from odradek.kafka.broker.log_settings import log_settings
from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.broker.meters import Meters
from odradek.kafka.broker.parked import Parked
from odradek.kafka.broker.partition import Surroundings
from odradek.kafka.broker.partitions import Partitions
from odradek.kafka.broker.producer_ids import ProducerIds
from odradek.kafka.controller.registration import Registration
from odradek.kafka.server.clients import Clients
from odradek.kafka.server.connection import Connection
from odradek.kafka.server.dispatch import serve_locally
from odradek.kafka.settings import BrokerSettings, Endpoint, Layers, SecurityProtocol
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.settings import LogSettings
from odradek.runtime.clock import steady_clock, wall_clock_ms
from odradek.runtime.disk import Disk
from odradek.runtime.logs import NodeLog
from odradek.runtime.properties import Properties
from odradek.runtime.tasks import Tasks
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.settings import ZooKeeperSettings

ZOO_CFG = b"tickTime=500\ndataDir=/data\nclientPort=2181\nadmin.enableServer=false\n"
SESSION_MS = 6000
PORT = 9092
LISTENER = "PLAINTEXT"


async def serve_zookeeper(environment: Environment) -> None:
    settings = ZooKeeperSettings(Properties.parse(ZOO_CFG, "zoo.cfg"))
    node = ZooKeeperNode(settings, environment.disk, environment.random)
    await node.start()
    await node.tasks.until_stopped()


class Member:
    """One broker."""

    def __init__(
        self, broker_id: int, host: str, disk: Disk, random: Random, **given: object
    ) -> None:
        texts = {
            "zookeeper.connect": "zookeeper:2181",
            "zookeeper.session.timeout.ms": str(SESSION_MS),
            **{key.replace("_", "."): str(value) for key, value in given.items()},
        }
        settings = BrokerSettings(Properties.of(texts, "server.properties"))
        self.id = broker_id
        self.host = host
        self.port = PORT  # 0 is any.
        self.directory = "/kafka"
        self.note = NodeLog(f"broker {broker_id}")
        self.tasks = Tasks(self.note)
        self.keeper = Keeper(settings, random, self.note)
        self.configs = Configs(self.keeper, Layers(settings), self.note)
        self.metadata = Metadata()
        self.features = Features(self.keeper, self.metadata, self.note)
        self.directories = LogDirectories(OpenFiles(disk), self._log_settings, random.random)
        self.links = Links(broker_id, 5.0, self.tasks, self.note)
        self.controller = ControllerShell(
            broker_id, self.keeper, self.configs, self.links, self.tasks, self.note
        )
        self.channel = ControllerChannel(
            broker_id, self.metadata, lambda: self.configs.layers.broker
        )
        self.broker = self._broker(random)

    async def start(self) -> None:
        """In the order of a node's start."""
        self.directories.open([self.directory])
        for _ in self.directories.load():
            pass
        await self.keeper.open()
        self.broker.cluster_id = await self.keeper.cluster_id()
        await self.configs.load_broker(self.id)
        await self.configs.load()
        await self.take_port()
        await self.keeper.register(self.registration())
        await self.open_doors()
        await self.features.load()
        self.keeper.renewed += [self.configs.load, self.features.load]
        self.tasks.start("session", self.keeper.run())
        self.tasks.start("configs", self.configs.run())
        self.tasks.start("features", self.features.run())
        self.controller.start()

    async def take_port(self) -> None:
        clients, loop = Clients(self.broker), asyncio.get_running_loop()
        self.clients = clients
        self.server = await loop.create_server(
            lambda: Connection(clients, LISTENER), None, self.port, start_serving=False
        )
        self.port = self.server.sockets[0].getsockname()[1]

    async def open_doors(self) -> None:
        await self.server.start_serving()

    async def close_doors(self) -> None:
        """Hear nobody any more, and go on with everything else."""
        self.server.close()
        self.clients.close()

    async def stop(self) -> None:
        self.server.close()
        self.tasks.stop()
        await self.tasks.until_stopped()
        self.channel.close()
        self.directories.close(wall_clock_ms())
        await self.keeper.close()

    def registration(self) -> Registration:
        endpoint = Endpoint(LISTENER, self.host, self.port, SecurityProtocol.PLAINTEXT)
        return Registration(self.id, (endpoint,))

    def _log_settings(self, topic: str) -> LogSettings:
        return log_settings(self.configs.topic_settings(topic), self.configs.layers.broker)

    def _broker(self, random: Random) -> Broker:
        configs, meters = self.configs, Meters()
        surroundings = Surroundings(
            self.id,
            self.metadata,
            lambda: configs.layers.broker,
            configs.topic_settings,
            wall_clock_ms,
            steady_clock(),
        )
        broker = Broker(
            id=self.id,
            cluster_id="",
            configs=configs,
            metadata=self.metadata,
            directories=self.directories,
            partitions=Partitions(
                self.directories, surroundings, meters, self.tasks, self.note, random
            ),
            parked=Parked(),
            fetch_sessions=FetchSessions(10, random, steady_clock()),
            keeper=self.keeper,
            controller=self.controller,
            producer_ids=ProducerIds(self.id, self.keeper, self.channel, self.tasks, self.note),
            meters=meters,
            tasks=self.tasks,
            note=self.note,
            random=random,
            clock=wall_clock_ms,
            steady_clock=steady_clock(),
        )
        self.links.serve_own = self.channel.serve_own = partial(serve_locally, broker)
        return broker


class Cluster:
    """A world with ZooKeeper, members by their ids, and a client of ZooKeeper to look with."""

    def __init__(self, seed: int = 1) -> None:
        self.world = World(seed)
        self.members: dict[int, Member] = {}

    def __enter__(self) -> Cluster:
        self.world.__enter__()
        self.world.host("zookeeper").start(serve_zookeeper)
        return self

    def __exit__(self, *reason: object) -> None:
        self.world.__exit__(*reason)

    def host(self, broker_id: int) -> str:
        return f"b{broker_id}"

    def start(self, *broker_ids: int, **given: object) -> None:
        """Start brokers, and wait until each has heard of all."""
        for broker_id in broker_ids:
            self.launch(broker_id, **given)
        self.until(lambda: all(map(self.knows, broker_ids)))

    def launch(self, broker_id: int, **given: object) -> None:
        """Start a broker on a host of its own."""

        async def main(environment: Environment) -> None:
            member = Member(
                broker_id, environment.name, environment.disk, environment.random, **given
            )
            self.members[broker_id] = member
            await member.start()
            await member.tasks.until_stopped()

        self.world.host(self.host(broker_id)).start(main)

    def restart(self, broker_id: int) -> None:
        """Start a broker again that was killed; it waits for its session's end by itself."""
        self.world.host(self.host(broker_id)).start()

    def knows(self, broker_id: int) -> bool:
        """Whether a broker has heard of all others."""
        member = self.members.get(broker_id)
        return member is not None and set(member.metadata.brokers) >= set(self.members)

    def until(self, condition: Callable[[], object], limit_s: float = 120.0) -> None:
        self.world.run_until(condition, limit_s)

    def look(self, story: Callable[[ZooKeeperClient], Awaitable[object]]) -> object:
        """Have a client of ZooKeeper do or read something; what it returns."""

        async def main(environment: Environment) -> object:
            client = ZooKeeperClient("zookeeper:2181", random=environment.random)
            async with client:
                return await story(client)

        return self.world.run_to_end(self.world.host("looker").start(main))

    def read(self, path: str) -> bytes:
        async def story(client: ZooKeeperClient) -> bytes:
            return (await client.get_data(path))[0]

        found = self.look(story)
        assert isinstance(found, bytes)
        return found

    def do(self, broker_id: int, work: Callable[[], Awaitable[object]]) -> object:
        """Have something done on a broker's own loop."""
        process = self.world.host(self.host(broker_id)).process
        assert process is not None
        task = process.loop.create_task(_done(work))
        self.until(task.done)
        return task.result()

    @property
    def controller(self) -> Member:
        """The member that is the controller."""
        (active,) = [it for it in self.members.values() if it.controller.is_active]
        return active


async def _done(work: Callable[[], Awaitable[object]]) -> object:
    return await work()
