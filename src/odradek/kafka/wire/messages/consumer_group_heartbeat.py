"""ConsumerGroupHeartbeat (key 68, version 0, flexible from 0).

The new group protocol (KIP-848); a ZooKeeper-mode broker refuses it in the body.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct, Uuid


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupHeartbeatRequest(Message, api_key=68, versions="0", flexible="0+"):
    group_id: String
    member_id: String
    member_epoch: Int32
    instance_id: String | None = None
    rack_id: String | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[String] | None = None
    server_assignor: String | None = None
    topic_partitions: list[TopicPartitions] | None = None


class Assignment(Struct):
    topic_partitions: list[TopicPartitions]


class ConsumerGroupHeartbeatResponse(Message, api_key=68, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    error_message: String | None = None
    member_id: String | None = None
    member_epoch: Int32
    heartbeat_interval_ms: Int32
    assignment: Assignment | None = None
