"""TxnOffsetCommit (key 28, versions 0-4, flexible from 3).

Store offsets of a group as part of a transaction.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, String, Struct, field


class TxnOffsetCommitRequestPartition(Struct):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field("2+", default=-1, ignorable=True)
    committed_metadata: String | None


class TxnOffsetCommitRequestTopic(Struct):
    name: String
    partitions: list[TxnOffsetCommitRequestPartition]


class TxnOffsetCommitRequest(Message, api_key=28, versions="0-4", flexible="3+"):
    transactional_id: String
    group_id: String
    producer_id: Int64
    producer_epoch: Int16
    generation_id: Int32 = field("3+", default=-1)
    member_id: String = field("3+")
    group_instance_id: String | None = field("3+", default=None)
    topics: list[TxnOffsetCommitRequestTopic]


class TxnOffsetCommitResponsePartition(Struct):
    partition_index: Int32
    error_code: Int16


class TxnOffsetCommitResponseTopic(Struct):
    name: String
    partitions: list[TxnOffsetCommitResponsePartition]


class TxnOffsetCommitResponse(Message, api_key=28, versions="0-4", flexible="3+"):
    throttle_time_ms: Int32
    topics: list[TxnOffsetCommitResponseTopic]
