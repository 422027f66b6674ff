"""The record in `__consumer_offsets` that holds one committed offset."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int32, Int64, Message, String, field


class OffsetCommitKey(Message, versions="0-1"):
    group: String
    topic: String
    partition: Int32


class OffsetCommitValue(Message, versions="0-4", flexible="4+"):
    offset: Int64
    leader_epoch: Int32 = field("3+", default=-1, ignorable=True)
    metadata: String
    commit_timestamp: Int64
    expire_timestamp: Int64 = field("1", default=-1, ignorable=True)
