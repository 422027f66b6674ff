"""SyncGroup (key 14, versions 0-5, flexible from 4).

Get one's assignment; the leader of a group brings all.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int16, Int32, Message, String, Struct, field


class SyncGroupRequestAssignment(Struct):
    member_id: String
    assignment: Bytes


class SyncGroupRequest(Message, api_key=14, versions="0-5", flexible="4+"):
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: String | None = field("3+", default=None)
    protocol_type: String | None = field("5+", default=None, ignorable=True)
    protocol_name: String | None = field("5+", default=None, ignorable=True)
    assignments: list[SyncGroupRequestAssignment]


class SyncGroupResponse(Message, api_key=14, versions="0-5", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16
    protocol_type: String | None = field("5+", default=None, ignorable=True)
    protocol_name: String | None = field("5+", default=None, ignorable=True)
    assignment: Bytes
