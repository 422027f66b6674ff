"""DeleteGroups (key 42, versions 0-2): groups without members go, and their offsets with them."""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


async def delete_groups(
    message: DeleteGroupsRequest, request: Request, broker: Broker
) -> DeleteGroupsResponse:
    groups, version = broker.coordinators.groups, request.version
    results = await asyncio.gather(
        *(
            groups.ask(name, Shard.handle_delete_group, name, version, DeletableGroupResult)
            for name in dict.fromkeys(message.groups_names)
        )
    )
    return DeleteGroupsResponse(throttle_time_ms=0, results=results)
