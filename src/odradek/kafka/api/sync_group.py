"""SyncGroup (key 14, versions 0-5): get one's assignment in a new generation.

The leader brings the assignments of all; the others wait until they are in the log.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse


async def sync_group(
    message: SyncGroupRequest, request: Request, broker: Broker
) -> SyncGroupResponse:
    return await broker.coordinators.groups.ask(
        message.group_id, Shard.handle_sync, message, request.version, SyncGroupResponse
    )
