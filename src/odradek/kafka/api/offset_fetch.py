"""OffsetFetch (key 9, versions 0-9): how far groups have come.

Version 0 asks for what is in ZooKeeper. v2 lets null stand for all partitions, v7 waits for open
transactions if it is asked to (KIP-447), v8 takes several groups.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.group_zookeeper import read_offset
from odradek.kafka.coordinator.offsets_fetch import asked_groups, fetch_response, no_offset
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)


async def offset_fetch(
    message: OffsetFetchRequest, request: Request, broker: Broker
) -> OffsetFetchResponse:
    asked = asked_groups(message, request.version)
    if request.version == 0:
        return fetch_response([await from_zookeeper(each, broker) for each in asked], 0)
    groups = broker.coordinators.groups
    found = [
        groups.shard_of(each.group_id).fetch_offsets(each, message.require_stable) for each in asked
    ]
    return fetch_response(found, request.version)


async def from_zookeeper(
    asked: OffsetFetchRequestGroup, broker: Broker
) -> OffsetFetchResponseGroup:
    topics = [
        OffsetFetchResponseTopics(
            name=topic.name,
            partitions=[
                await one_from_zookeeper(
                    asked.group_id, TopicPartition(topic.name, partition), broker
                )
                for partition in topic.partition_indexes
            ],
        )
        for topic in asked.topics or ()
    ]
    return OffsetFetchResponseGroup(group_id=asked.group_id, topics=topics)


async def one_from_zookeeper(
    group_id: str, where: TopicPartition, broker: Broker
) -> OffsetFetchResponsePartitions:
    """What is not there has offset -1, and the error that version 0 had for it."""
    offset: int | ErrorCode | None = None
    if broker.metadata.partition(*where) is not None:
        offset = await read_offset(broker.keeper, group_id, where)
    if offset is None:
        return no_offset(where.partition, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if isinstance(offset, ErrorCode):
        return no_offset(where.partition, offset)
    return OffsetFetchResponsePartitions(
        partition_index=where.partition,
        committed_offset=offset,
        metadata="",
        error_code=ErrorCode.NONE,
    )
