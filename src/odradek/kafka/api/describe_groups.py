"""DescribeGroups (key 15, versions 0-5): the state of groups, and their members.

v3 adds the operations that are allowed, if they are asked for; v4 the instance ids of static
members.
"""

from __future__ import annotations

from odradek.kafka.admin.operations import ALL_OF_A_GROUP
from odradek.kafka.broker.broker import Broker
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)


async def describe_groups(
    message: DescribeGroupsRequest, request: Request, broker: Broker
) -> DescribeGroupsResponse:
    groups = broker.coordinators.groups
    described = [groups.shard_of(each).describe_group(each) for each in message.groups]
    if message.include_authorized_operations:
        described = [each if each.error_code else with_operations(each) for each in described]
    return DescribeGroupsResponse(groups=described)


def with_operations(group: DescribedGroup) -> DescribedGroup:
    return DescribedGroup(
        error_code=group.error_code,
        group_id=group.group_id,
        group_state=group.group_state,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol_data,
        members=group.members,
        authorized_operations=ALL_OF_A_GROUP,
    )
