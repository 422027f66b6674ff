"""UpdateMetadata (key 6, versions 0-8, flexible from 6).

The controller tells a broker about partitions and live brokers.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import (
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    String,
    Struct,
    Uuid,
    field,
)


class UpdateMetadataPartitionState(Struct):
    topic_name: String = field("0-4", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    zk_version: Int32
    replicas: list[Int32]
    offline_replicas: list[Int32] = field("4+", ignorable=True)


class UpdateMetadataTopicState(Struct):
    topic_name: String
    topic_id: Uuid = field("7+", ignorable=True)
    partition_states: list[UpdateMetadataPartitionState]


class UpdateMetadataEndpoint(Struct):
    port: Int32
    host: String
    listener: String = field("3+", ignorable=True)
    security_protocol: Int16


class UpdateMetadataBroker(Struct):
    id: Int32
    v0_host: String = field("0", ignorable=True)
    v0_port: Int32 = field("0", ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = field("1+", ignorable=True)
    rack: String | None = field("2+", ignorable=True)


class UpdateMetadataRequest(Message, api_key=6, versions="0-8", flexible="6+"):
    controller_id: Int32
    is_kraft_controller: Bool = field("8+")
    type: Int8 = field("8+", tag=0)
    controller_epoch: Int32
    broker_epoch: Int64 = field("5+", default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = field("0-4")
    topic_states: list[UpdateMetadataTopicState] = field("5+")
    live_brokers: list[UpdateMetadataBroker]


class UpdateMetadataResponse(Message, api_key=6, versions="0-8", flexible="6+"):
    error_code: Int16
