"""OffsetFetch (key 9, versions 0-9, flexible from 6): read the offsets of a group."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String, Struct, field


class OffsetFetchRequestTopic(Struct):
    name: String
    partition_indexes: list[Int32]


class OffsetFetchRequestTopics(Struct):
    name: String
    partition_indexes: list[Int32]


class OffsetFetchRequestGroup(Struct):
    group_id: String
    member_id: String | None = field("9+", default=None, ignorable=True)
    member_epoch: Int32 = field("9+", default=-1, ignorable=True)
    topics: list[OffsetFetchRequestTopics] | None


class OffsetFetchRequest(Message, api_key=9, versions="0-9", flexible="6+"):
    group_id: String = field("0-7")
    topics: list[OffsetFetchRequestTopic] | None = field("0-7", null="2+")
    groups: list[OffsetFetchRequestGroup] = field("8+")
    require_stable: Bool = field("7+")


class OffsetFetchResponsePartition(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field("5+", default=-1, ignorable=True)
    metadata: String | None
    error_code: Int16


class OffsetFetchResponseTopic(Struct):
    name: String
    partitions: list[OffsetFetchResponsePartition]


class OffsetFetchResponsePartitions(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = -1
    metadata: String | None
    error_code: Int16


class OffsetFetchResponseTopics(Struct):
    name: String
    partitions: list[OffsetFetchResponsePartitions]


class OffsetFetchResponseGroup(Struct):
    group_id: String
    topics: list[OffsetFetchResponseTopics]
    error_code: Int16 = 0


class OffsetFetchResponse(Message, api_key=9, versions="0-9", flexible="6+"):
    throttle_time_ms: Int32 = field("3+", ignorable=True)
    topics: list[OffsetFetchResponseTopic] = field("0-7")
    error_code: Int16 = field("2-7", ignorable=True)
    groups: list[OffsetFetchResponseGroup] = field("8+")
