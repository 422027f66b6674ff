"""LeaveGroup (key 13, versions 0-5, flexible from 4): members leave a group."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct, field


class MemberIdentity(Struct):
    member_id: String
    group_instance_id: String | None = None
    reason: String | None = field("5+", default=None, ignorable=True)


class LeaveGroupRequest(Message, api_key=13, versions="0-5", flexible="4+"):
    group_id: String
    member_id: String = field("0-2")
    members: list[MemberIdentity] = field("3+")


class MemberResponse(Struct):
    member_id: String
    group_instance_id: String | None
    error_code: Int16


class LeaveGroupResponse(Message, api_key=13, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16
    members: list[MemberResponse] = field("3+")
