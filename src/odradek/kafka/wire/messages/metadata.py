"""Metadata (key 3, versions 0-12, flexible from 9).

Brokers, topics, partitions and who leads them.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Message, String, Struct, Uuid, field


class MetadataRequestTopic(Struct):
    topic_id: Uuid = field("10+", ignorable=True)
    name: String | None = field(null="10+")


class MetadataRequest(Message, api_key=3, versions="0-12", flexible="9+"):
    topics: list[MetadataRequestTopic] | None = field(null="1+")
    allow_auto_topic_creation: Bool = field("4+", default=True)
    include_cluster_authorized_operations: Bool = field("8-10")
    include_topic_authorized_operations: Bool = field("8+")


class MetadataResponseBroker(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = field("1+", default=None, ignorable=True)


class MetadataResponsePartition(Struct):
    error_code: Int16
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field("7+", default=-1, ignorable=True)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = field("5+", ignorable=True)


class MetadataResponseTopic(Struct):
    error_code: Int16
    name: String | None = field(null="12+")
    topic_id: Uuid = field("10+", ignorable=True)
    is_internal: Bool = field("1+", ignorable=True)
    partitions: list[MetadataResponsePartition]
    topic_authorized_operations: Int32 = field("8+", default=-2147483648)


class MetadataResponse(Message, api_key=3, versions="0-12", flexible="9+"):
    throttle_time_ms: Int32 = field("3+", ignorable=True)
    brokers: list[MetadataResponseBroker]
    cluster_id: String | None = field("2+", default=None, ignorable=True)
    controller_id: Int32 = field("1+", default=-1, ignorable=True)
    topics: list[MetadataResponseTopic]
    cluster_authorized_operations: Int32 = field("8-10", default=-2147483648)
