"""Records of the new group protocol (KIP-848) in `__consumer_offsets`."""

from __future__ import annotations

from odradek.kafka.wire.schema import Bytes, Int8, Int32, Message, String, Struct, Uuid, field


class ConsumerGroupMetadataKey(Message, versions="3"):
    group_id: String


class ConsumerGroupMetadataValue(Message, versions="0", flexible="0+"):
    epoch: Int32


class ConsumerGroupPartitionMetadataKey(Message, versions="4"):
    group_id: String


class PartitionMetadata(Struct):
    partition: Int32
    racks: list[String]


class TopicMetadata(Struct):
    topic_id: Uuid
    topic_name: String
    num_partitions: Int32
    partition_metadata: list[PartitionMetadata]


class ConsumerGroupPartitionMetadataValue(Message, versions="0", flexible="0+"):
    topics: list[TopicMetadata]


class ConsumerGroupMemberMetadataKey(Message, versions="5"):
    group_id: String
    member_id: String


class ClassicProtocol(Struct):
    name: String
    metadata: Bytes


class ClassicMemberMetadata(Struct):
    session_timeout_ms: Int32
    supported_protocols: list[ClassicProtocol]


class ConsumerGroupMemberMetadataValue(Message, versions="0", flexible="0+"):
    instance_id: String | None
    rack_id: String | None
    client_id: String
    client_host: String
    subscribed_topic_names: list[String]
    subscribed_topic_regex: String | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: String | None
    classic_member_metadata: ClassicMemberMetadata | None = field(tag=0)


class ConsumerGroupTargetAssignmentMetadataKey(Message, versions="6"):
    group_id: String


class ConsumerGroupTargetAssignmentMetadataValue(Message, versions="0", flexible="0+"):
    assignment_epoch: Int32


class ConsumerGroupTargetAssignmentMemberKey(Message, versions="7"):
    group_id: String
    member_id: String


class TopicPartition(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupTargetAssignmentMemberValue(Message, versions="0", flexible="0+"):
    topic_partitions: list[TopicPartition]


class ConsumerGroupCurrentMemberAssignmentKey(Message, versions="8"):
    group_id: String
    member_id: String


class TopicPartitions(Struct):
    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupCurrentMemberAssignmentValue(Message, versions="0", flexible="0+"):
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TopicPartitions]
    partitions_pending_revocation: list[TopicPartitions]
