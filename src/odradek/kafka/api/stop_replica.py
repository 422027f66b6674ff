"""StopReplica (key 5, versions 0-4): replicas that this broker holds no longer.

A leader epoch of -2 says that the topic is being deleted, -1 that none is known: then any replica
is stopped, otherwise only one that is not of a newer epoch. Until version 2 one flag says whether
all are deleted; from version 3 on each says so itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from odradek.kafka.api.orders import refuse_order
from odradek.kafka.broker.broker import Broker
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)

NO_EPOCH = -1
SLICE = 32  # Files are closed and renamed; the loop is left to others after so many.


class Stopped(NamedTuple):
    """A replica to be stopped, whatever the version that says so."""

    where: TopicPartition
    leader_epoch: int
    delete: bool


async def stop_replica(
    message: StopReplicaRequest, request: Request, broker: Broker
) -> StopReplicaResponse:
    if error := refuse_order(broker, message.controller_epoch, message.broker_epoch):
        return StopReplicaResponse(error_code=error, partition_errors=[])
    errors: dict[Stopped, ErrorCode] = {}
    for position, each in enumerate(all_stopped(message)):
        errors[each] = stop(broker, each.where, each.leader_epoch, delete=each.delete)
        if position % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    if any(it.delete for it in errors) and not await broker.partitions.sync_deletions():
        failed = [it for it in errors if it.delete]
        errors |= dict.fromkeys(failed, ErrorCode.KAFKA_STORAGE_ERROR)
    return answer(errors)


def answer(errors: Mapping[Stopped, ErrorCode]) -> StopReplicaResponse:
    partition_errors = [
        StopReplicaPartitionError(
            topic_name=it.where.topic, partition_index=it.where.partition, error_code=error
        )
        for it, error in errors.items()
    ]
    return StopReplicaResponse(error_code=ErrorCode.NONE, partition_errors=partition_errors)


def all_stopped(message: StopReplicaRequest) -> Iterable[Stopped]:
    delete = message.delete_partitions
    for one in message.ungrouped_partitions:
        yield Stopped(TopicPartition(one.topic_name, one.partition_index), NO_EPOCH, delete)
    for old in message.topics:
        for index in old.partition_indexes:
            yield Stopped(TopicPartition(old.name, index), NO_EPOCH, delete)
    for topic in message.topic_states:
        for state in topic.partition_states:
            where = TopicPartition(topic.topic_name, state.partition_index)
            yield Stopped(where, state.leader_epoch, state.delete_partition)


def stop(broker: Broker, where: TopicPartition, leader_epoch: int, *, delete: bool) -> ErrorCode:
    partition = broker.partitions.get(*where)
    if partition is not None and 0 <= leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return broker.partitions.stop(where, delete=delete)
