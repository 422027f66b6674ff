"""OffsetForLeaderEpoch (key 23, versions 0-4): where an epoch of a partition's leader ended.

Followers and consumers compare it with what they have: if they are past it, their log and ours
parted there (KIP-101, KIP-320).
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


async def offset_for_leader_epoch(
    message: OffsetForLeaderEpochRequest, request: Request, broker: Broker
) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[answer(broker, topic.topic, asked) for asked in topic.partitions],
            )
            for topic in message.topics
        ]
    )


def answer(broker: Broker, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    partition = broker.partitions.leader(topic, asked.partition, asked.current_leader_epoch)
    if isinstance(partition, ErrorCode):
        return EpochEndOffset(error_code=partition, partition=asked.partition)
    try:
        ended = partition.end_of_epoch(asked.leader_epoch)
    except DISK_TROUBLE as error:
        broker.partitions.disk_failed(partition, error)
        return EpochEndOffset(error_code=ErrorCode.KAFKA_STORAGE_ERROR, partition=asked.partition)
    return EpochEndOffset(
        error_code=0,
        partition=asked.partition,
        leader_epoch=ended.epoch,
        end_offset=ended.end_offset,
    )
