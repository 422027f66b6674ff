"""Produce (key 0, versions 0-11, flexible from 9): append batches to partitions."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Int64, Message, Records, String, Struct, field


class PartitionProduceData(Struct):
    index: Int32
    records: Records | None


class TopicProduceData(Struct):
    name: String
    partition_data: list[PartitionProduceData]


class ProduceRequest(Message, api_key=0, versions="0-11", flexible="9+"):
    transactional_id: String | None = field("3+", default=None)
    acks: Int16
    timeout_ms: Int32
    topic_data: list[TopicProduceData]


class BatchIndexAndErrorMessage(Struct):
    batch_index: Int32
    batch_index_error_message: String | None = None


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class PartitionProduceResponse(Struct):
    index: Int32
    error_code: Int16
    base_offset: Int64
    log_append_time_ms: Int64 = field("2+", default=-1, ignorable=True)
    log_start_offset: Int64 = field("5+", default=-1, ignorable=True)
    record_errors: list[BatchIndexAndErrorMessage] = field("8+", ignorable=True)
    error_message: String | None = field("8+", default=None, ignorable=True)
    current_leader: LeaderIdAndEpoch = field("10+", tag=0)


class TopicProduceResponse(Struct):
    name: String
    partition_responses: list[PartitionProduceResponse]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class ProduceResponse(Message, api_key=0, versions="0-11", flexible="9+"):
    responses: list[TopicProduceResponse]
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    node_endpoints: list[NodeEndpoint] = field("10+", tag=0)
