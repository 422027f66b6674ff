"""LeaveGroup (key 13, versions 0-5): members leave, and the others share what they had.

Until version 2 one member leaves; then several may, and static ones by their instance ids.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse


async def leave_group(
    message: LeaveGroupRequest, request: Request, broker: Broker
) -> LeaveGroupResponse:
    return await broker.coordinators.groups.ask(
        message.group_id, Shard.handle_leave, message, request.version, LeaveGroupResponse
    )
