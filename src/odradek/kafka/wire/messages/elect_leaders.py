"""ElectLeaders (key 43, versions 0-2, flexible from 2): elect the preferred leader, or any."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int8, Int16, Int32, Message, String, Struct, field


class TopicPartitions(Struct):
    topic: String
    partitions: list[Int32]


class ElectLeadersRequest(Message, api_key=43, versions="0-2", flexible="2+"):
    election_type: Int8 = field("1+")
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = 60000


class PartitionResult(Struct):
    partition_id: Int32
    error_code: Int16
    error_message: String | None


class ReplicaElectionResult(Struct):
    topic: String
    partition_result: list[PartitionResult]


class ElectLeadersResponse(Message, api_key=43, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16 = field("1+")
    replica_election_results: list[ReplicaElectionResult]
