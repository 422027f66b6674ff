"""OffsetDelete (key 47, version 0): a group forgets offsets, of topics that no member reads."""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.group_topics import errors_of, unknown_partitions, without
from odradek.kafka.coordinator.offsets_answers import delete_response
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_delete import OffsetDeleteRequest, OffsetDeleteResponse


async def offset_delete(
    message: OffsetDeleteRequest, request: Request, broker: Broker
) -> OffsetDeleteResponse:
    unknown = unknown_partitions(broker.metadata, message.topics)
    known = OffsetDeleteRequest(group_id=message.group_id, topics=without(message.topics, unknown))
    response = await broker.coordinators.groups.ask(
        message.group_id, Shard.handle_offset_delete, known, request.version, OffsetDeleteResponse
    )
    if response.error_code or not unknown:
        return response
    return delete_response(ErrorCode.NONE, unknown | errors_of(response.topics))
