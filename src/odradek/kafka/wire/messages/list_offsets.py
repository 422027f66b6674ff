"""ListOffsets (key 2, versions 0-9, flexible from 6).

Offsets by time, earliest, latest or largest timestamp.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int8, Int16, Int32, Int64, Message, String, Struct, field


class ListOffsetsPartition(Struct):
    partition_index: Int32
    current_leader_epoch: Int32 = field("4+", default=-1, ignorable=True)
    timestamp: Int64
    max_num_offsets: Int32 = field("0", default=1)


class ListOffsetsTopic(Struct):
    name: String
    partitions: list[ListOffsetsPartition]


class ListOffsetsRequest(Message, api_key=2, versions="0-9", flexible="6+"):
    replica_id: Int32
    isolation_level: Int8 = field("2+")
    topics: list[ListOffsetsTopic]


class ListOffsetsPartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16
    old_style_offsets: list[Int64] = field("0")
    timestamp: Int64 = field("1+", default=-1)
    offset: Int64 = field("1+", default=-1)
    leader_epoch: Int32 = field("4+", default=-1)


class ListOffsetsTopicResponse(Struct):
    name: String
    partitions: list[ListOffsetsPartitionResponse]


class ListOffsetsResponse(Message, api_key=2, versions="0-9", flexible="6+"):
    throttle_time_ms: Int32 = field("2+", ignorable=True)
    topics: list[ListOffsetsTopicResponse]
