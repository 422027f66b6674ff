"""Faults that strike a cluster of brokers where it is one: its sessions and its controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from odradek.simulation.faults.fault import Fault, OnOne
from odradek.simulation.faults.host import Pause
from odradek.simulation.faults.nemesis import Draw
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from tests.kafka.server.ensembled import SimulatedBrokers

TOOL = "tool"


@dataclass(frozen=True, slots=True)
class LostSession(OnOne):
    """A broker does not reach ZooKeeper; all others, and all clients, reach the broker."""

    servers: tuple[str, ...]

    def begin(self, world: World) -> None:
        for source, target in self._ways():
            world.network.cut(source, target)

    def end(self, world: World) -> None:
        for source, target in self._ways():
            world.network.heal(source, target)

    def _ways(self) -> Iterator[tuple[str, str]]:
        for server in self.servers:
            yield self.victim, server
            yield server, self.victim


@dataclass(frozen=True, slots=True)
class Deposed(OnOne):
    """Somebody deletes `/controller`, and its owner hears nothing of ZooKeeper, but is heard.

    Its session lives, so nothing but the epoch keeps it from writing.
    """

    servers: tuple[str, ...]

    def begin(self, world: World) -> None:
        for server in self.servers:
            world.network.cut(server, self.victim)
        if not world.host(TOOL).is_running:
            world.host(TOOL).start(self._depose)

    def end(self, world: World) -> None:
        for server in self.servers:
            world.network.heal(server, self.victim)

    async def _depose(self, environment: Environment) -> None:
        connect = ",".join(f"{it}:2181" for it in self.servers)
        client = ZooKeeperClient(connect, random=environment.random, session_timeout_ms=4000)
        try:
            async with client:
                await client.delete("/kafka/controller")
        except ZooKeeperError:
            pass  # There is none, or nobody to ask.


def draws(cluster: SimulatedBrokers) -> tuple[Draw, ...]:
    """Ways to strike a cluster's sessions and controllers."""
    servers = tuple(f"zk{it}" for it in cluster.zookeeper.ids)

    def controller(hosts: Sequence[str]) -> str | None:
        """Who controls, unless it suffers already."""
        for broker_id, node in cluster.running().items():
            if node.broker.controller.is_active and f"b{broker_id}" in hosts:
                return f"b{broker_id}"
        return None

    def lose_session(random: Random, hosts: Sequence[str]) -> Fault:
        brokers = [it for it in hosts if it not in servers]
        return LostSession(brokers[0], servers) if brokers else Pause(hosts[0])

    def depose(random: Random, hosts: Sequence[str]) -> Fault:
        found = controller(hosts)
        return Pause(hosts[0]) if found is None else Deposed(found, servers)

    def pause_controller(random: Random, hosts: Sequence[str]) -> Fault:
        return Pause(controller(hosts) or hosts[0])

    return lose_session, depose, pause_controller
