"""Heartbeat (key 12, versions 0-4, flexible from 4): a member of a group is alive."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, field


class HeartbeatRequest(Message, api_key=12, versions="0-4", flexible="4+"):
    group_id: String
    generation_id: Int32
    member_id: String
    group_instance_id: String | None = field("3+", default=None)


class HeartbeatResponse(Message, api_key=12, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16
