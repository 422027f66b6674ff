"""What the replicas of a cluster have on their disks, read without any broker."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.os_disk import OsDisk
from odradek.spark.log_segments import find_segments, read_segment
from tests.kafka.clients.clusters import PATIENCE_S, Cluster
from tests.waiting import wait_until

Logs = dict[TopicPartition, list[bytes]]


def read_logs(folder: Path, topics: Iterable[str]) -> Logs:
    """Every batch of every partition in a directory of logs, in order, with all its bytes."""
    disk, found = OsDisk(), Logs()
    for segment in find_segments(disk, str(folder), set(topics)):
        batches = found.setdefault(TopicPartition(*segment.partition), [])
        for entries in read_segment(disk, segment):
            batches += map(bytes, entries)
    return found


def differences(cluster: Cluster, topics: list[str]) -> list[str]:
    """Where a replica has not exactly what the leader of its partition has."""
    logs = {id_: read_logs(it.directory / "data", topics) for id_, it in cluster.brokers.items()}
    found = []
    for topic in topics:
        for partition, replicas in cluster.replicas(topic).items():
            where = TopicPartition(topic, partition)
            leader = cluster.leader(topic, partition)
            wanted = logs[leader].get(where)
            found += [
                f"{where} of {id_}, led by {leader}"
                for id_ in replicas
                if wanted is None or logs[id_].get(where) != wanted
            ]
    return found


def until_equal(cluster: Cluster, topics: list[str] | None = None) -> None:
    """Nobody writes any more: soon all replicas of a partition have the same bytes."""
    names = cluster.topics() if topics is None else topics
    try:
        wait_until(lambda: not differences(cluster, names), PATIENCE_S)
    except AssertionError:
        raise AssertionError(f"replicas differ: {differences(cluster, names)}") from None
