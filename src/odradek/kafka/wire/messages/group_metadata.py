"""The record in `__consumer_offsets` that holds a classic group."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int32, Int64, Message, String, Struct, field


class GroupMetadataKey(Message, versions="2"):
    group: String


class MemberMetadata(Struct):
    member_id: String
    group_instance_id: String | None = field("3+", default=None, ignorable=True)
    client_id: String
    client_host: String
    rebalance_timeout: Int32 = field("1+", default=-1, ignorable=True)
    session_timeout: Int32
    subscription: Bytes
    assignment: Bytes


class GroupMetadataValue(Message, versions="0-4", flexible="4+"):
    protocol_type: String
    generation: Int32
    protocol: String | None
    leader: String | None
    current_state_timestamp: Int64 = field("2+", default=-1, ignorable=True)
    members: list[MemberMetadata]
