"""The demo's servers, three brokers and three ZooKeepers: who does what, killed and started again.

They run as under `odradek up --brokers 3`: a broker that is killed is missed when its session with
ZooKeeper ends. An order counts once two brokers hold it, so any one of them may be lost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import ConnectionLost, NoBroker, TopicPartition, UnknownTopic
from odradek.kafka.client.patience import Patience
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.topic_admin import describe
from odradek.kafka.wire.messages.metadata import MetadataResponse
from odradek.local.cluster import LocalCluster
from odradek.local.directory import ClusterDirectory
from odradek.local.errors import ForeignDirectory
from odradek.local.ports import HOST
from odradek.local.preparing import plan_cluster

BROKERS = ZOOKEEPERS = 3
SETTINGS = {
    "min.insync.replicas": "2",
    # Fifty partitions each would be fifty elections that nobody has come to see.
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
}


@dataclass(frozen=True, slots=True)
class Roles:
    """Who does what, as the brokers say just now."""

    controller_id: int
    leaders: dict[TopicPartition, int]
    lagging: tuple[TopicPartition, ...]  # Those that miss a replica.

    def led_by(self, broker_id: int) -> list[TopicPartition]:
        return sorted(where for where, leader in self.leaders.items() if leader == broker_id)


class Servers:
    """The processes, in a directory of the demo."""

    def __init__(self, directory: Path) -> None:
        home = ClusterDirectory(directory / "cluster")
        if home.path.exists():
            raise ForeignDirectory(f"{directory} has an earlier demo in it: name another one")
        home.own()
        plan = plan_cluster(BROKERS, ZOOKEEPERS, has_usual_ports=False)
        self.local = LocalCluster(replace(plan, broker_settings=SETTINGS), home)
        self._brokers = Brokers(client_settings({"bootstrap.servers": self.bootstrap}))
        self._cluster = Cluster(self._brokers)

    @property
    def bootstrap(self) -> str:
        return self.local.plan.bootstrap

    @property
    def zookeeper(self) -> str:
        return self.local.plan.zookeeper

    @property
    def metrics(self) -> list[str]:
        return [f"http://{HOST}:{it.http_port}/metrics" for it in self.local.plan.brokers]

    @property
    def directory(self) -> Path:
        return self.local.home.path

    def start(self) -> None:
        self.local.start()

    def stop(self) -> None:
        self._brokers.close()
        self.local.stop()
        self.local.home.release()

    def roles(self, topics: Iterable[str]) -> Roles:
        """Who leads these topics, and all; asked for anew."""
        patience = Patience("who leads what", self._brokers.settings)
        while True:
            try:
                return roles_of(describe(self._cluster, topics))
            except (ConnectionLost, NoBroker, UnknownTopic) as error:
                patience.pause(error)  # It has just died, or just come back.

    def kill(self, broker_id: int) -> int | None:
        """kill -9, as a crash would; which process it was."""
        process = self.local.processes[name_of(broker_id)]
        pid = process.pid
        process.kill()
        return pid

    def restart(self, broker_id: int) -> None:
        """Start a broker that was killed; return when it serves."""
        self.local.restart(name_of(broker_id))


def roles_of(said: MetadataResponse) -> Roles:
    found = {
        TopicPartition(str(topic.name), it.partition_index): it
        for topic in said.topics
        for it in topic.partitions
    }
    return Roles(
        said.controller_id,
        {where: it.leader_id for where, it in found.items()},
        tuple(w for w, it in found.items() if len(it.isr_nodes) < len(it.replica_nodes)),
    )


def name_of(broker_id: int) -> str:
    return f"broker-{broker_id}"
