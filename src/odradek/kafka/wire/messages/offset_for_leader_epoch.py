"""OffsetForLeaderEpoch (key 23, versions 0-4, flexible from 4).

Where an epoch of a partition's leader ended.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, String, Struct, field


class OffsetForLeaderPartition(Struct):
    partition: Int32
    current_leader_epoch: Int32 = field("2+", default=-1, ignorable=True)
    leader_epoch: Int32


class OffsetForLeaderTopic(Struct):
    topic: String
    partitions: list[OffsetForLeaderPartition]


class OffsetForLeaderEpochRequest(Message, api_key=23, versions="0-4", flexible="4+"):
    replica_id: Int32 = field("3+", default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic]


class EpochEndOffset(Struct):
    error_code: Int16
    partition: Int32
    leader_epoch: Int32 = field("1+", default=-1, ignorable=True)
    end_offset: Int64 = -1


class OffsetForLeaderTopicResult(Struct):
    topic: String
    partitions: list[EpochEndOffset]


class OffsetForLeaderEpochResponse(Message, api_key=23, versions="0-4", flexible="4+"):
    throttle_time_ms: Int32 = field("2+", ignorable=True)
    topics: list[OffsetForLeaderTopicResult]
