"""Heartbeat (key 12, versions 0-4): a member of a group is alive, and hears of rebalances.

Whoever is silent for its session timeout is no member any more.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


async def heartbeat(
    message: HeartbeatRequest, request: Request, broker: Broker
) -> HeartbeatResponse:
    return await broker.coordinators.groups.ask(
        message.group_id, Shard.handle_heartbeat, message, request.version, HeartbeatResponse
    )
