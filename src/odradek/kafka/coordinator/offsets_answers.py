"""Answers about offsets: partitions gathered by topic, in the form of each version."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TypeVar

from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from odradek.kafka.wire.messages.offset_delete import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from odradek.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

KEPT_PARTITIONS_MAX = 100  # Answers about more are made each time.
LOADING_TXN_VERSION = 2  # Producers before it crash when they hear of a load.

Found = TypeVar("Found")
T = TypeVar("T")
Errors = Mapping[TopicPartition, ErrorCode]


def by_topic(
    found: Mapping[TopicPartition, Found], answer: Callable[[int, Found], T]
) -> dict[str, list[T]]:
    """An answer for each partition, by topic, in the order of its first partition."""
    topics: dict[str, list[T]] = {}
    for (topic, partition), what in found.items():
        if topic in topics:
            topics[topic].append(answer(partition, what))
        else:
            topics[topic] = [answer(partition, what)]
    return topics


def commit_response(errors: Errors) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(name=name, partitions=partitions)
            for name, partitions in by_topic(errors, _committed).items()
        ]
    )


def same_commit_response(
    partitions: Collection[TopicPartition], error: ErrorCode
) -> OffsetCommitResponse:
    """Say the same of all: groups commit the same partitions again and again, so it is kept."""
    if len(partitions) > KEPT_PARTITIONS_MAX:
        return commit_response(dict.fromkeys(partitions, error))
    return _kept_commit_response(tuple(partitions), error)


@lru_cache(maxsize=4096)
def _kept_commit_response(
    partitions: tuple[TopicPartition, ...], error: ErrorCode
) -> OffsetCommitResponse:
    return commit_response(dict.fromkeys(partitions, error))


@lru_cache(maxsize=4096)
def _committed(partition: int, error: ErrorCode) -> OffsetCommitResponsePartition:
    """The same for all topics, and asked for with every commit."""
    return OffsetCommitResponsePartition(partition_index=partition, error_code=error)


def txn_commit_response(errors: Errors, version: int) -> TxnOffsetCommitResponse:
    def committed(partition: int, error: ErrorCode) -> TxnOffsetCommitResponsePartition:
        return TxnOffsetCommitResponsePartition(
            partition_index=partition, error_code=known_to(version, error)
        )

    return TxnOffsetCommitResponse(
        throttle_time_ms=0,
        topics=[
            TxnOffsetCommitResponseTopic(name=name, partitions=partitions)
            for name, partitions in by_topic(errors, committed).items()
        ],
    )


def known_to(version: int, error: ErrorCode) -> ErrorCode:
    if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS and version < LOADING_TXN_VERSION:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    return error


def delete_response(error: ErrorCode, errors: Errors | None = None) -> OffsetDeleteResponse:
    return OffsetDeleteResponse(
        error_code=error,
        throttle_time_ms=0,
        topics=[
            OffsetDeleteResponseTopic(name=name, partitions=partitions)
            for name, partitions in by_topic(errors or {}, _deleted).items()
        ],
    )


def _deleted(partition: int, error: ErrorCode) -> OffsetDeleteResponsePartition:
    return OffsetDeleteResponsePartition(partition_index=partition, error_code=error)
