"""What a cluster consists of, and the files that say so to its servers, pure.

The files are Apache's own: a real server.properties and a real zoo.cfg, so whoever likes can start
the same servers, ours or Apache's, by hand. What others are told to connect to (`advertised`) may
differ from where a server listens: that is where somebody who wants to disturb them sits between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

HOST = "127.0.0.1"
REPLICAS_MAX = 3
TICK_MS = 2000
SESSION_TIMEOUT_MS = 6000


@dataclass(frozen=True, slots=True)
class ZooKeeperPlan:
    """One member of the ensemble, and its ports."""

    id: int
    port: int
    quorum_port: int = 0
    election_port: int = 0
    advertised: tuple[int, int, int] = (0, 0, 0)  # The same three, for others; 0: the same.

    @property
    def name(self) -> str:
        return f"zookeeper-{self.id}"

    @property
    def endpoint(self) -> str:
        """Where clients go."""
        return f"{HOST}:{self.advertised[0] or self.port}"

    def member(self, *, for_itself: bool) -> str:
        """What stands behind `server.N=`: its own line says where it listens."""
        ports = (self.quorum_port, self.election_port)
        if not for_itself:
            ports = (self.advertised[1] or ports[0], self.advertised[2] or ports[1])
        return f"{HOST}:{ports[0]}:{ports[1]}"


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """One broker, and its ports."""

    id: int
    port: int
    http_port: int
    advertised: int = 0

    @property
    def name(self) -> str:
        return f"broker-{self.id}"

    @property
    def endpoint(self) -> str:
        return f"{HOST}:{self.advertised or self.port}"


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """All servers. Without ZooKeepers there is one broker, which brings its own."""

    brokers: tuple[BrokerPlan, ...]
    zookeepers: tuple[ZooKeeperPlan, ...] = ()
    broker_settings: Mapping[str, str] = field(default_factory=dict)
    zookeeper_settings: Mapping[str, str] = field(default_factory=dict)
    chroot: str = ""  # Where the brokers' znodes are; "": at the root.

    @property
    def bootstrap(self) -> str:
        return ",".join(it.endpoint for it in self.brokers)

    @property
    def zookeeper(self) -> str:
        """The connect string; "" while the broker's own ZooKeeper has no port yet."""
        servers = ",".join(it.endpoint for it in self.zookeepers)
        return servers and servers + self.chroot

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.brokers), len(self.zookeepers)

    def as_json(self) -> dict[str, Any]:
        return {
            "brokers": [asdict(it) for it in self.brokers],
            "zookeepers": [asdict(it) for it in self.zookeepers],
        }


def plan_from_json(said: Mapping[str, Any]) -> ClusterPlan:
    """The other way; KeyError, TypeError or ValueError if it is nothing of ours."""
    return ClusterPlan(
        tuple(BrokerPlan(**it) for it in said["brokers"]),
        tuple(
            ZooKeeperPlan(**{**it, "advertised": tuple(it["advertised"])})
            for it in said["zookeepers"]
        ),
    )


def server_properties(plan: ClusterPlan, broker: BrokerPlan, data: str) -> dict[str, str]:
    """The lines of a broker's server.properties."""
    replicas = min(REPLICAS_MAX, len(plan.brokers))
    lines = {
        "broker.id": str(broker.id),
        "listeners": f"PLAINTEXT://{HOST}:{broker.port}",
        "advertised.listeners": f"PLAINTEXT://{broker.endpoint}",
        "log.dirs": data,
        "default.replication.factor": str(replicas),
        "offsets.topic.replication.factor": str(replicas),
        "transaction.state.log.replication.factor": str(replicas),
        "transaction.state.log.min.isr": str(min(2, replicas)),
        "group.initial.rebalance.delay.ms": "0",
        "controlled.shutdown.retry.backoff.ms": "200",
        "zookeeper.session.timeout.ms": str(SESSION_TIMEOUT_MS),
        "zookeeper.connection.timeout.ms": "60000",  # The ensemble starts at the same time.
    }
    if plan.zookeepers:
        lines["zookeeper.connect"] = plan.zookeeper
    return lines | dict(plan.broker_settings)


def zoo_cfg(plan: ClusterPlan, server: ZooKeeperPlan, data: str) -> dict[str, str]:
    """The lines of a ZooKeeper's zoo.cfg."""
    lines = {
        "tickTime": str(TICK_MS),
        "initLimit": "10",
        "syncLimit": "5",
        "dataDir": data,
        "clientPort": str(server.port),
        "clientPortAddress": HOST,
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "*",
        "autopurge.purgeInterval": "24",
    }
    if len(plan.zookeepers) > 1:
        for it in plan.zookeepers:
            lines[f"server.{it.id}"] = it.member(for_itself=it is server)
    return lines | dict(plan.zookeeper_settings)


def properties_text(lines: Mapping[str, str]) -> str:
    return "".join(f"{key}={value}\n" for key, value in lines.items())


def advice_on(zookeepers: int) -> str | None:
    """What to say about a number of ZooKeepers; nothing if it is a good one."""
    if zookeepers < 2 or zookeepers % 2:
        return None
    needed, fewer = zookeepers // 2 + 1, zookeepers - 1
    return (
        f"{zookeepers} ZooKeepers are no safer than {fewer}: {needed} of them must agree, so "
        f"{zookeepers - needed} may fail, as with {fewer}, and there is one more that can"
    )
