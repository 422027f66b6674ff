"""JoinGroup (key 11, versions 0-9, flexible from 6).

Join a group and wait for its next generation.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Bytes, Int16, Int32, Message, String, Struct, field


class JoinGroupRequestProtocol(Struct):
    name: String
    metadata: Bytes


class JoinGroupRequest(Message, api_key=11, versions="0-9", flexible="6+"):
    group_id: String
    session_timeout_ms: Int32
    rebalance_timeout_ms: Int32 = field("1+", default=-1, ignorable=True)
    member_id: String
    group_instance_id: String | None = field("5+", default=None)
    protocol_type: String
    protocols: list[JoinGroupRequestProtocol]
    reason: String | None = field("8+", default=None, ignorable=True)


class JoinGroupResponseMember(Struct):
    member_id: String
    group_instance_id: String | None = field("5+", default=None, ignorable=True)
    metadata: Bytes


class JoinGroupResponse(Message, api_key=11, versions="0-9", flexible="6+"):
    throttle_time_ms: Int32 = field("2+", ignorable=True)
    error_code: Int16
    generation_id: Int32 = -1
    protocol_type: String | None = field("7+", default=None, ignorable=True)
    protocol_name: String | None = field(null="7+")
    leader: String
    skip_assignment: Bool = field("9+")
    member_id: String
    members: list[JoinGroupResponseMember]
