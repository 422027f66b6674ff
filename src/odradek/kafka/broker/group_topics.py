"""Offsets of partitions that do not exist are refused one by one; those of others are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from odradek.kafka.broker.metadata import Metadata
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import OffsetCommitRequestTopic
from odradek.kafka.wire.messages.offset_delete import OffsetDeleteRequestTopic
from odradek.kafka.wire.messages.txn_offset_commit import TxnOffsetCommitRequestTopic

Topic = TypeVar(
    "Topic", OffsetCommitRequestTopic, OffsetDeleteRequestTopic, TxnOffsetCommitRequestTopic
)
Errors = dict[TopicPartition, ErrorCode]


def unknown_partitions(metadata: Metadata, topics: Iterable[Topic]) -> Errors:
    """Those that nobody has heard of."""
    return {
        TopicPartition(topic.name, each.partition_index): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for topic in topics
        for known in (metadata.topics.get(topic.name, {}),)
        for each in topic.partitions
        if each.partition_index not in known
    }


def without(topics: Sequence[Topic], unknown: Errors) -> list[Topic]:
    """The topics with the other partitions alone."""
    kept: list[Topic] = []
    for topic in topics:
        partitions: Any = [
            each for each in topic.partitions if (topic.name, each.partition_index) not in unknown
        ]
        if partitions:
            kept.append(type(topic)(name=topic.name, partitions=partitions))
    return kept


def errors_of(topics: Iterable[Any]) -> Errors:
    """The codes of an answer, one for each partition."""
    return {
        TopicPartition(topic.name, each.partition_index): ErrorCode(each.error_code)
        for topic in topics
        for each in topic.partitions
    }
