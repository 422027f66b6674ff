"""StopReplica (key 5, versions 0-4): replicas that this broker holds no longer.

A leader epoch of -2 says that the topic is being deleted, -1 that none is known: then any replica
is stopped, otherwise only one that is not of a newer epoch. Until version 2 one flag says whether
all are deleted; from version 3 on each says so itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
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
SLICE = 8  # Deleting waits for the disk; the loop is left to others after so many.


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
    answers = []
    for position, (where, leader_epoch, delete) in enumerate(all_stopped(message)):
        error = stop(broker, where, leader_epoch, delete=delete)
        answers.append(
            StopReplicaPartitionError(
                topic_name=where.topic, partition_index=where.partition, error_code=error
            )
        )
        if position % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    return StopReplicaResponse(error_code=ErrorCode.NONE, partition_errors=answers)


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
