"""CreatePartitions (key 37, versions 0-3, flexible from 2): add partitions to topics."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Message, String, Struct


class CreatePartitionsAssignment(Struct):
    broker_ids: list[Int32]


class CreatePartitionsTopic(Struct):
    name: String
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


class CreatePartitionsRequest(Message, api_key=37, versions="0-3", flexible="2+"):
    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: Bool


class CreatePartitionsTopicResult(Struct):
    name: String
    error_code: Int16
    error_message: String | None = None


class CreatePartitionsResponse(Message, api_key=37, versions="0-3", flexible="2+"):
    throttle_time_ms: Int32
    results: list[CreatePartitionsTopicResult]
