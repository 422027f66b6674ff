"""OffsetCommit (key 8, versions 0-9, flexible from 8): store the offsets of a group."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, String, Struct, field


class OffsetCommitRequestPartition(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field("6+", default=-1, ignorable=True)
    commit_timestamp: Int64 = field("1", default=-1)
    committed_metadata: String | None


class OffsetCommitRequestTopic(Struct):
    name: String
    partitions: list[OffsetCommitRequestPartition]


class OffsetCommitRequest(Message, api_key=8, versions="0-9", flexible="8+"):
    group_id: String
    generation_id_or_member_epoch: Int32 = field("1+", default=-1, ignorable=True)
    member_id: String = field("1+", ignorable=True)
    group_instance_id: String | None = field("7+", default=None)
    retention_time_ms: Int64 = field("2-4", default=-1, ignorable=True)
    topics: list[OffsetCommitRequestTopic]


class OffsetCommitResponsePartition(Struct):
    partition_index: Int32
    error_code: Int16


class OffsetCommitResponseTopic(Struct):
    name: String
    partitions: list[OffsetCommitResponsePartition]


class OffsetCommitResponse(Message, api_key=8, versions="0-9", flexible="8+"):
    throttle_time_ms: Int32 = field("3+", ignorable=True)
    topics: list[OffsetCommitResponseTopic]
