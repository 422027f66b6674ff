"""ListPartitionReassignments (key 46, version 0, flexible from 0): moves of replicas under way."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct


class ListPartitionReassignmentsTopics(Struct):
    name: String
    partition_indexes: list[Int32]


class ListPartitionReassignmentsRequest(Message, api_key=46, versions="0", flexible="0+"):
    timeout_ms: Int32 = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class OngoingPartitionReassignment(Struct):
    partition_index: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32]
    removing_replicas: list[Int32]


class OngoingTopicReassignment(Struct):
    name: String
    partitions: list[OngoingPartitionReassignment]


class ListPartitionReassignmentsResponse(Message, api_key=46, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None
    topics: list[OngoingTopicReassignment]
