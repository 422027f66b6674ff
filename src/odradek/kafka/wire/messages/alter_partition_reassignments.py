"""AlterPartitionReassignments (key 45, version 0, flexible from 0).

Move replicas of partitions, or cancel a move.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct


class ReassignablePartition(Struct):
    partition_index: Int32
    replicas: list[Int32] | None = None


class ReassignableTopic(Struct):
    name: String
    partitions: list[ReassignablePartition]


class AlterPartitionReassignmentsRequest(Message, api_key=45, versions="0", flexible="0+"):
    timeout_ms: Int32 = 60000
    topics: list[ReassignableTopic]


class ReassignablePartitionResponse(Struct):
    partition_index: Int32
    error_code: Int16
    error_message: String | None


class ReassignableTopicResponse(Struct):
    name: String
    partitions: list[ReassignablePartitionResponse]


class AlterPartitionReassignmentsResponse(Message, api_key=45, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    responses: list[ReassignableTopicResponse]
