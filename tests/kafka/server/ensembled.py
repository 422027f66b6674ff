"""Whole clusters in one world: an ensemble of ZooKeeper and brokers on it, all of them mortal."""

from __future__ import annotations

import asyncio
from functools import partial

from odradek.kafka.server.node import BrokerNode
from odradek.kafka.settings import BrokerSettings
from odradek.runtime.properties import Properties
from odradek.simulation.hosts import Host
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.kafka.server.starting import started
from tests.zookeeper.server.ensemble import Ensemble

PROPERTIES = """
broker.id={id}
listeners=PLAINTEXT://b{id}:9092
log.dirs=/kafka
zookeeper.connect={connect}/kafka
zookeeper.session.timeout.ms=2000
zookeeper.connection.timeout.ms=120000
default.replication.factor={count}
offsets.topic.replication.factor={count}
transaction.state.log.replication.factor={count}
min.insync.replicas={least}
transaction.state.log.min.isr={least}
offsets.topic.num.partitions=2
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=100
group.min.session.timeout.ms=500
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
log.segment.bytes=20000
log.index.interval.bytes=500
"""
# Little is waited for, for lives are short.
IMPATIENT = """
log.flush.offset.checkpoint.interval.ms=200
replica.high.watermark.checkpoint.interval.ms=100
replica.lag.time.max.ms=1500
replica.fetch.wait.max.ms=200
replica.fetch.backoff.ms=300
replica.socket.timeout.ms=2000
controller.socket.timeout.ms=2000
log.initial.task.delay.ms=100
log.retention.ms=-1
"""
FLUSHED = "log.flush.interval.messages=1\n"  # What was acknowledged survives a loss of power.


class SimulatedBrokers:
    """Servers `zk1` …, brokers `b1` …; `nodes` are those that have started, in their last life."""

    def __init__(
        self,
        world: World,
        *,
        brokers: int = 3,
        zookeepers: int = 3,
        settings: str = "",
        is_started: bool = True,
    ) -> None:
        self.world = world
        self.ids = tuple(range(1, brokers + 1))
        self.zookeeper = Ensemble(world, zookeepers)
        self.nodes: dict[int, BrokerNode] = {}
        self._stops: dict[int, asyncio.Event] = {}
        self._settings = settings
        for broker_id in self.ids if is_started else ():
            self.start(broker_id)

    @property
    def names(self) -> list[str]:
        """All hosts of the cluster."""
        servers = [f"zk{it}" for it in self.zookeeper.ids]
        return [*servers, *(f"b{it}" for it in self.ids)]

    def host(self, broker_id: int) -> Host:
        return self.world.host(f"b{broker_id}")

    def running(self) -> dict[int, BrokerNode]:
        """The nodes of those brokers that have started and live."""
        return {it: node for it, node in self.nodes.items() if self.host(it).is_running}

    def start(self, broker_id: int) -> None:
        """Start a broker for the first time."""
        self.host(broker_id).start(partial(self._serve, broker_id))

    def stop(self, broker_id: int) -> None:
        """Have a broker leave as it should."""
        self._stops[broker_id].set()
        self.world.run_until(lambda: not self.host(broker_id).is_running, 60)

    async def _serve(self, broker_id: int, environment: Environment) -> None:
        self.nodes.pop(broker_id, None)  # That of an earlier life.
        node = self.nodes[broker_id] = await started(self._read(broker_id), environment)
        stop = self._stops[broker_id] = asyncio.Event()
        asked = asyncio.create_task(stop.wait())
        ended = asyncio.create_task(node.tasks.until_stopped())
        await asyncio.wait([asked, ended], return_when=asyncio.FIRST_COMPLETED)
        await (node.stop() if stop.is_set() else ended)

    def _read(self, broker_id: int) -> BrokerSettings:
        count = min(3, len(self.ids))
        text = PROPERTIES.format(
            id=broker_id,
            connect=self.zookeeper.connect_string,
            count=count,
            least=min(2, count),
        )
        lines = (text + IMPATIENT + self._settings).encode()
        return BrokerSettings(Properties.parse(lines, "server.properties"))
