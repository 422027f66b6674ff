"""DescribeGroups (key 15, versions 0-5, flexible from 5): state and members of groups."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Bytes, Int16, Int32, Message, String, Struct, field


class DescribeGroupsRequest(Message, api_key=15, versions="0-5", flexible="5+"):
    groups: list[String]
    include_authorized_operations: Bool = field("3+")


class DescribedGroupMember(Struct):
    member_id: String
    group_instance_id: String | None = field("4+", default=None, ignorable=True)
    client_id: String
    client_host: String
    member_metadata: Bytes
    member_assignment: Bytes


class DescribedGroup(Struct):
    error_code: Int16
    group_id: String
    group_state: String
    protocol_type: String
    protocol_data: String
    members: list[DescribedGroupMember]
    authorized_operations: Int32 = field("3+", default=-2147483648)


class DescribeGroupsResponse(Message, api_key=15, versions="0-5", flexible="5+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    groups: list[DescribedGroup]
