"""What consumers say to each other in JoinGroup metadata and SyncGroup assignments.

The two bytes of the version stand in front of each.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int32, Message, String, Struct, field


class ConsumerProtocolSubscriptionTopicPartition(Struct):
    topic: String
    partitions: list[Int32]


class ConsumerProtocolSubscription(Message, versions="0-3"):
    topics: list[String]
    user_data: Bytes | None = None
    owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = field("1+", ignorable=True)
    generation_id: Int32 = field("2+", default=-1, ignorable=True)
    rack_id: String | None = field("3+", default=None, ignorable=True)


class ConsumerProtocolAssignmentTopicPartition(Struct):
    topic: String
    partitions: list[Int32]


class ConsumerProtocolAssignment(Message, versions="0-3"):
    assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition]
    user_data: Bytes | None = None
