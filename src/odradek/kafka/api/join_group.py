"""JoinGroup (key 11, versions 0-9): become a member of a group, and wait for its next generation.

Until all known members have joined, or their time is over, nobody is answered. v4 makes newcomers
come back with the id that they are given; v5 knows static members.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.group_effects import Asker, Effects
from odradek.kafka.coordinator.members import Client
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse


async def join_group(
    message: JoinGroupRequest, request: Request, broker: Broker
) -> JoinGroupResponse:
    client = Client(request.client_id or "", f"/{request.origin.address}")

    def handle(shard: Shard, asker: Asker, message: JoinGroupRequest, now_ms: int) -> Effects:
        return shard.handle_join(asker, message, client, now_ms)

    groups = broker.coordinators.groups
    return await groups.ask(message.group_id, handle, message, request.version, JoinGroupResponse)
