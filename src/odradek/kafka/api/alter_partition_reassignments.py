"""AlterPartitionReassignments (key 45, version 0): move replicas, or (null) cancel a move."""

from __future__ import annotations

from functools import partial

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.moving import Targets
from odradek.kafka.broker.reign import Reign
from odradek.kafka.controller.reassignment import Verdict
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)

Verdicts = dict[TopicPartition, Verdict]


async def alter_partition_reassignments(
    message: AlterPartitionReassignmentsRequest, request: Request, broker: Broker
) -> AlterPartitionReassignmentsResponse:
    targets = {
        TopicPartition(topic.name, it.partition_index): it.replicas
        for topic in message.topics
        for it in topic.partitions
    }
    nothing: Verdicts | None = None
    verdicts = await broker.controller.submit(
        "AlterPartitionReassignments", partial(reassign, targets=targets), nothing
    )
    if verdicts is None:
        return answer(ErrorCode.NOT_CONTROLLER, {})
    return answer(ErrorCode.NONE, verdicts)


async def reassign(reign: Reign, targets: Targets) -> Verdicts | None:
    return await reign.moving.reassign(targets)


def answer(error: ErrorCode, verdicts: Verdicts) -> AlterPartitionReassignmentsResponse:
    by_topic: dict[str, list[ReassignablePartitionResponse]] = {}
    for where, verdict in verdicts.items():
        told = ReassignablePartitionResponse(
            partition_index=where.partition,
            error_code=verdict.error,
            error_message=verdict.message,
        )
        by_topic.setdefault(where.topic, []).append(told)
    return AlterPartitionReassignmentsResponse(
        throttle_time_ms=0,
        error_code=error,
        error_message=None,
        responses=[
            ReassignableTopicResponse(name=name, partitions=told) for name, told in by_topic.items()
        ],
    )
