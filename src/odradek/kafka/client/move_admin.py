"""Moves of partitions, for administrators: between directories, and no faster than is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.kafka.admin.plans import Limited
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.config_admin import Resource, alter_configs, broker_address
from odradek.kafka.client.errors import BrokerRefused, TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from odradek.kafka.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)

LEADER, FOLLOWER = "leader.replication.throttled", "follower.replication.throttled"
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"

Directories = Mapping[TopicPartition, str]


def limit_replication(cluster: Cluster, limited: Limited, bytes_per_second: int) -> None:
    """Let these replicas be copied no faster than that, on each broker."""
    rate = str(bytes_per_second)
    for broker in limited.brokers:
        rates = {f"{LEADER}.rate": rate, f"{FOLLOWER}.rate": rate}
        alter_configs(cluster, Resource.BROKER, str(broker), rates)
    for topic, leaders in limited.leaders.items():
        said = {f"{LEADER}.replicas": leaders, f"{FOLLOWER}.replicas": limited.followers[topic]}
        alter_configs(cluster, Resource.TOPIC, topic, said)


def lift_limits(cluster: Cluster, limited: Limited) -> None:
    """Let replicas be copied as fast as they can."""
    for topic in limited.leaders:
        keys = (f"{LEADER}.replicas", f"{FOLLOWER}.replicas")
        alter_configs(cluster, Resource.TOPIC, topic, {}, keys)
    for broker in limited.brokers:
        alter_configs(
            cluster, Resource.BROKER, str(broker), {}, (f"{LEADER}.rate", f"{FOLLOWER}.rate")
        )


def limit_log_dirs(cluster: Cluster, brokers: Iterable[int], bytes_per_second: int | None) -> None:
    """How fast replicas may move between the directories of these brokers; None: no limit."""
    for broker in brokers:
        if bytes_per_second is None:
            alter_configs(cluster, Resource.BROKER, str(broker), {}, [LOG_DIRS_RATE])
        else:
            said = {LOG_DIRS_RATE: str(bytes_per_second)}
            alter_configs(cluster, Resource.BROKER, str(broker), said)


def move_log_dirs(
    cluster: Cluster, broker_id: int, wanted: Directories
) -> dict[TopicPartition, str]:
    """Have replicas of one broker move to directories; return those that are not there yet."""
    by_path: dict[str, dict[str, list[int]]] = {}
    for (topic, partition), path in wanted.items():
        by_path.setdefault(path, {}).setdefault(topic, []).append(partition)
    dirs = [
        AlterReplicaLogDir(
            path=path,
            topics=[AlterReplicaLogDirTopic(name=t, partitions=p) for t, p in topics.items()],
        )
        for path, topics in by_path.items()
    ]
    with cluster.brokers.lend(broker_address(cluster, str(broker_id))) as connection:
        answer = connection.request(
            AlterReplicaLogDirsRequest(dirs=dirs), AlterReplicaLogDirsResponse
        )
    missing = {}
    for result in answer.results:
        for one in result.partitions:
            where = TopicPartition(result.topic_name, one.partition_index)
            if one.error_code == ErrorCode.REPLICA_NOT_AVAILABLE:
                missing[where] = wanted[where]
            elif one.error_code:
                raise BrokerRefused(f"moving {where} on broker {broker_id}", one.error_code)
    return missing


def not_arrived(cluster: Cluster, broker_id: int, wanted: Directories) -> set[TopicPartition]:
    """Which of the replicas of one broker are not in their directories yet."""
    topics: dict[str, list[int]] = {}
    for topic, partition in wanted:
        topics.setdefault(topic, []).append(partition)
    asked = [DescribableLogDirTopic(topic=t, partitions=p) for t, p in topics.items()]
    with cluster.brokers.lend(broker_address(cluster, str(broker_id))) as connection:
        answer = connection.request(DescribeLogDirsRequest(topics=asked), DescribeLogDirsResponse)
    arrived = {
        TopicPartition(topic.name, it.partition_index)
        for directory in answer.results
        for topic in directory.topics
        for it in topic.partitions
        if not it.is_future_key
        and wanted.get(TopicPartition(topic.name, it.partition_index)) == directory.log_dir
    }
    return wanted.keys() - arrived
