"""OffsetDelete (key 47, version 0, never flexible): forget offsets of a group."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct


class OffsetDeleteRequestPartition(Struct):
    partition_index: Int32


class OffsetDeleteRequestTopic(Struct):
    name: String
    partitions: list[OffsetDeleteRequestPartition]


class OffsetDeleteRequest(Message, api_key=47, versions="0"):
    group_id: String
    topics: list[OffsetDeleteRequestTopic]


class OffsetDeleteResponsePartition(Struct):
    partition_index: Int32
    error_code: Int16


class OffsetDeleteResponseTopic(Struct):
    name: String
    partitions: list[OffsetDeleteResponsePartition]


class OffsetDeleteResponse(Message, api_key=47, versions="0"):
    error_code: Int16
    throttle_time_ms: Int32
    topics: list[OffsetDeleteResponseTopic]
