"""How the servers of a cluster are, as they say themselves: what the live table shows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from odradek.local import asking
from odradek.local.cluster import LocalCluster, Server
from odradek.local.plan import BrokerPlan, ZooKeeperPlan
from odradek.local.process import ServerProcess

MANAGER = "kafka_server_replicamanager"
EPOCH_BITS = 32


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """One row. What a server of its kind does not have, or does not tell now, is None."""

    name: str
    endpoint: str
    role: str  # leader, follower, standalone; controller, broker; starting, down
    epoch: int | None = None  # Of the ensemble's leader; of the controller.
    partitions: int | None = None
    leads: int | None = None
    under_replicated: int | None = None
    sessions: int | None = None
    znodes: int | None = None
    memory_bytes: int | None = None
    restarts: int = 0

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def look_at(cluster: LocalCluster) -> list[ServerStatus]:
    """All servers, as they are now."""
    return [status_of(server, cluster.processes[name]) for name, server in cluster.servers.items()]


def status_of(server: Server, process: ServerProcess) -> ServerStatus:
    about: dict[str, Any] = {
        "name": server.name,
        "endpoint": server.endpoint,
        "memory_bytes": process.resident_bytes(),
        "restarts": process.restarts,
    }
    if not process.is_alive:
        return ServerStatus(**about, role="down")
    if isinstance(server, ZooKeeperPlan):
        return ServerStatus(**about, **zookeeper_facts(server))
    return ServerStatus(**about, **broker_facts(server))


def zookeeper_facts(server: ZooKeeperPlan) -> dict[str, Any]:
    said = asking.figures(server.port)
    if "zk_server_state" not in said:
        return {"role": "starting"}
    zxid = asking.say(server.port, "srvr").partition("Zxid: ")[2].partition("\n")[0]
    return {
        "role": said["zk_server_state"],
        "epoch": int(zxid, 16) >> EPOCH_BITS if zxid else None,
        "sessions": int(said.get("zk_global_sessions", "0")),
        "znodes": int(said.get("zk_znode_count", "0")),
    }


def broker_facts(broker: BrokerPlan) -> dict[str, Any]:
    said = asking.health(broker.http_port)
    if said is None:
        return {"role": "starting"}
    is_controller = said["controller_id"] == broker.id
    role = "controller" if is_controller else "broker"
    figures = asking.metrics(broker.http_port)
    return {
        "role": role if said["status"] == "ok" else "unwell",
        "epoch": said.get("controller_epoch"),
        "partitions": said["partitions"],
        "leads": int(figures.get(f"{MANAGER}_leadercount", 0)),
        "under_replicated": int(figures.get(f"{MANAGER}_underreplicatedpartitions", 0)),
    }
