"""The offsets that a group has committed: asked for, and committed by whoever is no member."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, TopicPartition
from odradek.kafka.client.identity import GROUP, Coordinated
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)

NOT_COMMITTED = -1


def committed_offsets(
    cluster: Cluster, group_id: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, int]:
    """What a group has committed for these partitions; those it has not are left out."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    request = OffsetFetchRequest(
        group_id=group_id,
        topics=[OffsetFetchRequestTopic(name=n, partition_indexes=p) for n, p in topics.items()],
        require_stable=True,  # What a transaction may yet commit is worth waiting for.
    )
    answer = Coordinated(cluster, GROUP, group_id).ask(
        "offsets", request, OffsetFetchResponse, _fetch_error
    )
    if code := _fetch_error(answer):
        raise BrokerRefused(f"offsets of group {group_id}", code)
    return {
        TopicPartition(topic.name, one.partition_index): one.committed_offset
        for topic in answer.topics
        for one in topic.partitions
        if one.committed_offset != NOT_COMMITTED
    }


def _fetch_error(answer: OffsetFetchResponse) -> int:
    codes = [one.error_code for topic in answer.topics for one in topic.partitions]
    return answer.error_code or next(filter(None, codes), 0)


def commit_offsets(cluster: Cluster, group_id: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Commit offsets for a group; refused while it has members of its own."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, partition), offset in offsets.items():
        topics.setdefault(topic, []).append(
            OffsetCommitRequestPartition(
                partition_index=partition, committed_offset=offset, committed_metadata=""
            )
        )
    request = OffsetCommitRequest(
        group_id=group_id,
        topics=[OffsetCommitRequestTopic(name=n, partitions=p) for n, p in topics.items()],
    )
    answer = Coordinated(cluster, GROUP, group_id).ask(
        "a commit", request, OffsetCommitResponse, _commit_error
    )
    if code := _commit_error(answer):
        raise BrokerRefused(f"a commit for group {group_id}", code)


def _commit_error(answer: OffsetCommitResponse) -> int:
    codes = [one.error_code for topic in answer.topics for one in topic.partitions]
    return next(filter(None, codes), 0)
