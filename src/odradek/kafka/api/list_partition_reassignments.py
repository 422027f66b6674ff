"""ListPartitionReassignments (key 46, version 0): which replicas are being moved."""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.reign import Reign
from odradek.kafka.controller.image import Assignment
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

Moves = dict[TopicPartition, Assignment]


async def list_partition_reassignments(
    message: ListPartitionReassignmentsRequest, request: Request, broker: Broker
) -> ListPartitionReassignmentsResponse:
    wanted = None
    if message.topics is not None:
        wanted = {
            TopicPartition(topic.name, index)
            for topic in message.topics
            for index in topic.partition_indexes
        }
    nothing: Moves | None = None
    moves = await broker.controller.submit(
        "ListPartitionReassignments", partial(list_moves, wanted=wanted), nothing
    )
    if moves is None:
        return answer(ErrorCode.NOT_CONTROLLER, {})
    return answer(ErrorCode.NONE, moves)


async def list_moves(reign: Reign, wanted: set[TopicPartition] | None) -> Moves | None:
    image = reign.image
    return {
        where: assignment
        for where in image.moving
        if (wanted is None or where in wanted)
        and (assignment := image.assignment(where)) is not None
    }


def answer(error: ErrorCode, moves: Moves) -> ListPartitionReassignmentsResponse:
    by_topic: dict[str, list[OngoingPartitionReassignment]] = {}
    for where, assignment in moves.items():
        move = OngoingPartitionReassignment(
            partition_index=where.partition,
            replicas=list(assignment.replicas),
            adding_replicas=list(assignment.adding),
            removing_replicas=list(assignment.removing),
        )
        by_topic.setdefault(where.topic, []).append(move)
    return ListPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=error,
        error_message=None,
        topics=[
            OngoingTopicReassignment(name=name, partitions=listed)
            for name, listed in by_topic.items()
        ],
    )
