"""Clusters in which Apache's brokers and ours are members side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.kafka.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from tests.interop.apache import ApacheZooKeeper
from tests.interop.apache_kafka import POM, ApacheBroker, run_tool
from tests.interop.maven import class_path
from tests.kafka.clients.clusters import (
    ASK_S,
    OFFSETS,
    PATIENCE_S,
    TRANSACTIONS,
    Cluster,
    Kind,
    running_cluster,
)
from tests.kafka.server.running import RunningBroker
from tests.kafka.server.transcript import Transcript
from tests.waiting import wait_until
from tests.zookeeper.server.running import running_server

PREFERRED = 0
METADATA_VERSION = 12
KINDS: dict[str, Kind] = {"A": ApacheBroker, "O": RunningBroker}
ZOOKEEPER = {"tickTime": 500, "maxClientCnxns": 0}
# Its buffer makes a JVM that starts beside others stand still for seconds.
LIGHT: dict[str, object] = {"log.cleaner.enable": "false"}


@contextmanager
def a_zookeeper(kind: str, directory: Path) -> Iterator[str]:
    directory.mkdir()
    if kind == "apache":
        with ApacheZooKeeper(directory, ZOOKEEPER) as theirs:
            yield theirs.connect_string
    else:
        with running_server(directory, **ZOOKEEPER) as ours:
            yield ours.connect_string


@contextmanager
def mixed_cluster(
    directory: Path, mix: str, zookeeper: str = "ours", /, **settings: object
) -> Iterator[Cluster]:
    """Brokers 1, 2, 3 … of the kinds that the letters of `mix` say: Apache's (A) or ours (O)."""
    class_path(POM)  # Nothing is started where Apache's cannot be had.
    with (
        a_zookeeper(zookeeper, directory / "zookeeper") as connect_string,
        running_cluster(
            directory,
            f"{connect_string}/mixed",
            [KINDS[it] for it in mix],
            **{**LIGHT, **settings},
        ) as cluster,
    ):
        yield cluster


def tool(cluster: Cluster, name: str, *arguments: str) -> str:
    """What one of Apache's tools prints; it must succeed."""
    done = run_tool(name, "--bootstrap-server", cluster.address, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def elect_preferred(cluster: Cluster) -> None:
    """Have every partition led by the first of its replicas, and see that it is."""
    which = ("--election-type", "preferred", "--all-topic-partitions")
    tool(cluster, "kafka-leader-election", *which)
    astray = [
        (topic, partition)
        for topic, partition, replicas, state in cluster.states()
        if state["leader"] != replicas[0]
    ]
    assert astray == []


def reassign(cluster: Cluster, topic: str, moves: dict[int, list[int] | None]) -> list[ErrorCode]:
    """Ask the controller to move partitions, or to cancel that; what it says to each."""
    partitions = [
        ReassignablePartition(partition_index=at, replicas=ids) for at, ids in moves.items()
    ]
    topics = [ReassignableTopic(name=topic, partitions=partitions)]
    request = AlterPartitionReassignmentsRequest(timeout_ms=ASK_S * 1000, topics=topics)
    with Transcript(cluster[cluster.until_controlled()].port) as to:
        answer = to.ask_silently(request, 0, AlterPartitionReassignmentsResponse)
    assert answer.error_code == ErrorCode.NONE
    return [ErrorCode(it.error_code) for it in answer.responses[0].partitions]


def coordinate_by(cluster: Cluster, id_: int) -> None:
    """Have one broker coordinate all groups and transactions."""
    order: list[int] | None = [id_, *(it for it in cluster.ids if it != id_)]
    for topic in (OFFSETS, TRANSACTIONS):
        assert reassign(cluster, topic, {0: order}) == [ErrorCode.NONE]
    wait_until(lambda: cluster.replicas(OFFSETS) == cluster.replicas(TRANSACTIONS) == {0: order})
    cluster.until_whole()

    def is_led() -> bool:
        if cluster.leader(OFFSETS) == cluster.leader(TRANSACTIONS) == id_:
            return True
        prefer(cluster, (OFFSETS, TRANSACTIONS))
        return False

    wait_until(is_led, PATIENCE_S)


def prefer(cluster: Cluster, topics: Iterable[str]) -> None:
    """Ask the controller to have partition 0 of topics led by the first of its replicas.

    librdkafka asks whom it believes to control. If that is another one by now, each partition is
    refused, but not the request: its client hears of no error.
    """
    wanted = [TopicPartitions(topic=topic, partitions=[0]) for topic in topics]
    request = ElectLeadersRequest(
        election_type=PREFERRED, topic_partitions=wanted, timeout_ms=ASK_S * 1000
    )
    with Transcript(cluster[cluster.until_controlled()].port) as to:
        to.ask_silently(request, 2, ElectLeadersResponse)


def until_told(cluster: Cluster, topic: str, count: int) -> None:
    """Wait until each broker knows who leads so many partitions of a topic.

    ZooKeeper knows first. A client that asks a broker in between takes what it is told for all.
    """
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False
    )

    def is_told(id_: int) -> bool:
        with Transcript(cluster[id_].port) as to:
            (told,) = to.ask_silently(asked, METADATA_VERSION, MetadataResponse).topics
        return sum(it.leader_id >= 0 for it in told.partitions) == count

    wait_until(lambda: all(map(is_told, cluster.ids)), PATIENCE_S)
