"""ConsumerGroupDescribe (key 69, version 0, flexible from 0).

Describe groups of the new protocol; a ZooKeeper-mode broker refuses it in the body.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Message, String, Struct, Uuid


class ConsumerGroupDescribeRequest(Message, api_key=69, versions="0", flexible="0+"):
    group_ids: list[String]
    include_authorized_operations: Bool


class TopicPartitions(Struct):
    topic_id: Uuid
    topic_name: String
    partitions: list[Int32]


class Assignment(Struct):
    topic_partitions: list[TopicPartitions]


class Member(Struct):
    member_id: String
    instance_id: String | None = None
    rack_id: String | None = None
    member_epoch: Int32
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]
    subscribed_topic_regex: String | None = None
    assignment: Assignment
    target_assignment: Assignment


class DescribedGroup(Struct):
    error_code: Int16
    error_message: String | None = None
    group_id: String
    group_state: String
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: String
    members: list[Member]
    authorized_operations: Int32 = -2147483648


class ConsumerGroupDescribeResponse(Message, api_key=69, versions="0", flexible="0+"):
    throttle_time_ms: Int32
    groups: list[DescribedGroup]
