"""Answers about offsets: partitions gathered by topic, in the form of each version."""

from __future__ import annotations

from collections.abc import Mapping
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

LOADING_TXN_VERSION = 2  # Producers before it crash when they hear of a load.

T = TypeVar("T")
Errors = Mapping[TopicPartition, ErrorCode]


def by_topic(partitions: Mapping[TopicPartition, T]) -> dict[str, list[tuple[int, T]]]:
    """Topics in the order of their first partition."""
    topics: dict[str, list[tuple[int, T]]] = {}
    for (topic, partition), value in partitions.items():
        if topic in topics:
            topics[topic].append((partition, value))
        else:
            topics[topic] = [(partition, value)]
    return topics


def commit_response(errors: Errors, version: int) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                partitions=[_committed(partition, error) for partition, error in partitions],
            )
            for name, partitions in by_topic(errors).items()
        ]
    )


@lru_cache(maxsize=4096)
def _committed(partition: int, error: ErrorCode) -> OffsetCommitResponsePartition:
    """The same for all topics, and asked for with every commit."""
    return OffsetCommitResponsePartition(partition_index=partition, error_code=error)


def txn_commit_response(errors: Errors, version: int) -> TxnOffsetCommitResponse:
    return TxnOffsetCommitResponse(
        throttle_time_ms=0,
        topics=[
            TxnOffsetCommitResponseTopic(
                name=name,
                partitions=[
                    TxnOffsetCommitResponsePartition(
                        partition_index=partition, error_code=known_to(version, error)
                    )
                    for partition, error in partitions
                ],
            )
            for name, partitions in by_topic(errors).items()
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
            OffsetDeleteResponseTopic(
                name=name,
                partitions=[
                    OffsetDeleteResponsePartition(partition_index=partition, error_code=each)
                    for partition, each in partitions
                ],
            )
            for name, partitions in by_topic(errors or {}).items()
        ],
    )
