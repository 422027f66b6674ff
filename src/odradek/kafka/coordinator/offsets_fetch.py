"""OffsetFetch: how far a group has come. Asked of any group, in any state, known or not.

What is not known is offset -1, and no error. Who asks for stable offsets only (KIP-447) is told
to come again while one is on its way to the log or held by a transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.offsets import Offsets
from odradek.kafka.coordinator.offsets_answers import by_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)

GROUPS_VERSION = 8  # Before it, a request asked about one group.
TOP_LEVEL_ERROR_VERSION = 2  # Before it, each partition carried the group's error.
INVALID_OFFSET = -1
NOTHING = Offsets()


def asked_groups(request: OffsetFetchRequest, version: int) -> list[OffsetFetchRequestGroup]:
    """What is asked of each group, whatever the version."""
    if version >= GROUPS_VERSION:
        return request.groups
    if request.topics is None:
        return [OffsetFetchRequestGroup(group_id=request.group_id, topics=None)]
    topics = [
        OffsetFetchRequestTopics(name=topic.name, partition_indexes=topic.partition_indexes)
        for topic in request.topics
    ]
    return [OffsetFetchRequestGroup(group_id=request.group_id, topics=topics)]


def fetch(
    group: Group | None, asked: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup:
    """The offsets of one group: of the partitions asked for, or of all."""
    is_known = group is not None and group.state is not State.DEAD
    offsets = group.offsets if group is not None and is_known else NOTHING
    partitions: Iterable[TopicPartition] = offsets.logged
    if asked.topics is not None:
        partitions = (
            TopicPartition(topic.name, index)
            for topic in asked.topics
            for index in topic.partition_indexes
        )
    found = {each: fetch_one(offsets, each, require_stable) for each in partitions}
    topics = [
        OffsetFetchResponseTopics(name=name, partitions=answers)
        for name, answers in by_topic(found, lambda _, answer: answer).items()
    ]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


def fetch_one(
    offsets: Offsets, partition: TopicPartition, require_stable: bool
) -> OffsetFetchResponsePartitions:
    if require_stable and offsets.is_unstable(partition):
        return no_offset(partition.partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    committed = offsets.get(partition)
    if committed is None:
        return no_offset(partition.partition, ErrorCode.NONE)
    return OffsetFetchResponsePartitions(
        partition_index=partition.partition,
        committed_offset=committed.offset,
        committed_leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        error_code=ErrorCode.NONE,
    )


def no_offset(partition: int, error: ErrorCode) -> OffsetFetchResponsePartitions:
    return OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=INVALID_OFFSET,
        metadata="",
        error_code=error,
    )


def fetch_error(asked: OffsetFetchRequestGroup, error: ErrorCode) -> OffsetFetchResponseGroup:
    """The group cannot be asked. The partitions are named for those versions that need them."""
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[no_offset(index, error) for index in topic.partition_indexes],
        )
        for topic in asked.topics or []
    ]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics, error_code=error)


def fetch_response(groups: Sequence[OffsetFetchResponseGroup], version: int) -> OffsetFetchResponse:
    """The whole answer, in the form of a version."""
    if version >= GROUPS_VERSION:
        return OffsetFetchResponse(groups=[without_topics_if_failed(group) for group in groups])
    (group,) = groups
    if version >= TOP_LEVEL_ERROR_VERSION:
        group = without_topics_if_failed(group)
    topics = [
        OffsetFetchResponseTopic(name=each.name, partitions=[old_form(p) for p in each.partitions])
        for each in group.topics
    ]
    return OffsetFetchResponse(topics=topics, error_code=group.error_code)


def without_topics_if_failed(group: OffsetFetchResponseGroup) -> OffsetFetchResponseGroup:
    if not group.error_code:
        return group
    return OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=group.error_code)


def old_form(partition: OffsetFetchResponsePartitions) -> OffsetFetchResponsePartition:
    return OffsetFetchResponsePartition(
        partition_index=partition.partition_index,
        committed_offset=partition.committed_offset,
        committed_leader_epoch=partition.committed_leader_epoch,
        metadata=partition.metadata,
        error_code=partition.error_code,
    )
