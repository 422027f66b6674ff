"""ListGroups (key 16, versions 0-5): the groups that this broker coordinates.

While some are being loaded the list is not whole, and says so. v4 filters by state, v5 by type.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse


async def list_groups(
    message: ListGroupsRequest, request: Request, broker: Broker
) -> ListGroupsResponse:
    groups = broker.coordinators.groups
    error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if groups.is_loading else ErrorCode.NONE
    listed = [
        group
        for each in groups.here.values()
        for group in each.shard.list_groups(message.states_filter, message.types_filter)
    ]
    return ListGroupsResponse(error_code=error, groups=listed)
