"""ListGroups (key 16, versions 0-5, flexible from 3): groups that this broker coordinates."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct, field


class ListGroupsRequest(Message, api_key=16, versions="0-5", flexible="3+"):
    states_filter: list[String] = field("4+")
    types_filter: list[String] = field("5+")


class ListedGroup(Struct):
    group_id: String
    protocol_type: String
    group_state: String = field("4+", ignorable=True)
    group_type: String = field("5+", ignorable=True)


class ListGroupsResponse(Message, api_key=16, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16
    groups: list[ListedGroup]
