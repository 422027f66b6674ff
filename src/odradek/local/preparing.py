"""From what a user asks for to a plan with ports, and from a plan to files.

Ports that were asked for are taken or refused; else those of the last time are, if they are free;
else the usual ones; else any. So a cluster that comes back is found where it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from odradek.local.directory import ClusterDirectory
from odradek.local.errors import ForeignDirectory
from odradek.local.plan import (
    BrokerPlan,
    ClusterPlan,
    ZooKeeperPlan,
    properties_text,
    server_properties,
    zoo_cfg,
)
from odradek.local.ports import PORT_MAX, asked_port, free_ports

USUAL_PORT = 9092
USUAL_ZOOKEEPER_PORT = 2181


def plan_cluster(
    brokers: int,
    zookeepers: int,
    *,
    first_port: int | None = None,
    known: ClusterPlan | None = None,
    has_usual_ports: bool = True,
) -> ClusterPlan:
    """A plan with ports that are free just now; `known` is what was there before."""
    if known is not None and known.shape != (brokers, zookeepers):
        raise ForeignDirectory(
            f"the data is that of {shape_text(*known.shape)}, not of "
            f"{shape_text(brokers, zookeepers)}: name another directory with --data"
        )
    asked = [asked_port(it) for it in ports_from(first_port, brokers)]
    listening = asked or free_ports(brokers, _preferred(brokers, known, has_usual_ports))
    others = free_ports(brokers + 3 * zookeepers, _other_ports(zookeepers, known, has_usual_ports))
    return ClusterPlan(
        tuple(
            BrokerPlan(number + 1, port, others[3 * zookeepers + number])
            for number, port in enumerate(listening)
        ),
        tuple(
            ZooKeeperPlan(
                number + 1, others[3 * number], others[3 * number + 1], others[3 * number + 2]
            )
            for number in range(zookeepers)
        ),
    )


def ports_from(first: int | None, count: int) -> list[int]:
    """The first port and those after it."""
    if first is None:
        return []
    if not 0 < first <= PORT_MAX - count + 1:
        raise ForeignDirectory(f"there is no port {first + count - 1}: they end at {PORT_MAX}")
    return [first + number for number in range(count)]


def shape_text(brokers: int, zookeepers: int) -> str:
    said = f"{brokers} broker" + ("s" if brokers > 1 else "")
    if not zookeepers:
        return f"{said} with a ZooKeeper inside"
    return f"{said} and {zookeepers} ZooKeeper" + ("s" if zookeepers > 1 else "")


def _preferred(brokers: int, known: ClusterPlan | None, has_usual: bool) -> list[int]:
    if known is not None:
        return [it.port for it in known.brokers]
    return [USUAL_PORT + number for number in range(brokers)] if has_usual else []


def _other_ports(zookeepers: int, known: ClusterPlan | None, has_usual: bool) -> list[int]:
    """Of ZooKeepers, three for each, then those that brokers tell of themselves on."""
    if known is not None:
        ensemble = [(it.port, it.quorum_port, it.election_port) for it in known.zookeepers]
        return [port for ports in ensemble for port in ports] + [
            it.http_port for it in known.brokers
        ]
    usual = USUAL_ZOOKEEPER_PORT if has_usual else None
    return [
        port
        for number in range(zookeepers)
        for port in (usual + number if usual is not None else 0, 0, 0)
    ]


def with_embedded(plan: ClusterPlan) -> ClusterPlan:
    """The same without ZooKeepers of their own: the broker brings one."""
    assert len(plan.brokers) == 1
    return replace(plan, zookeepers=())


def write_broker_files(home: ClusterDirectory, plan: ClusterPlan, broker: BrokerPlan) -> Path:
    """A broker's directory and its server.properties; the path of the latter."""
    directory = home.path / broker.name
    directory.mkdir(exist_ok=True)
    file = directory / "server.properties"
    lines = server_properties(plan, broker, str(directory / "data"))
    file.write_text(properties_text(lines))
    return file


def write_zookeeper_files(home: ClusterDirectory, plan: ClusterPlan, server: ZooKeeperPlan) -> Path:
    """A ZooKeeper's directory, its zoo.cfg and its myid; the path of the first."""
    directory = home.path / server.name
    data = directory / "data"
    data.mkdir(parents=True, exist_ok=True)
    file = directory / "zoo.cfg"
    file.write_text(properties_text(zoo_cfg(plan, server, str(data))))
    if len(plan.zookeepers) > 1:
        (data / "myid").write_text(f"{server.id}\n")
    return file
