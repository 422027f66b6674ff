"""Fetch (key 1, versions 0-17, flexible from 12): read batches, as a consumer or as a follower."""

from __future__ import annotations

from odradek.kafka.wire.schema import (
    Int8,
    Int16,
    Int32,
    Int64,
    Message,
    Records,
    String,
    Struct,
    Uuid,
    field,
)


class ReplicaState(Struct):
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchPartition(Struct):
    partition: Int32
    current_leader_epoch: Int32 = field("9+", default=-1, ignorable=True)
    fetch_offset: Int64
    last_fetched_epoch: Int32 = field("12+", default=-1)
    log_start_offset: Int64 = field("5+", default=-1, ignorable=True)
    partition_max_bytes: Int32
    replica_directory_id: Uuid = field("17+", tag=0, ignorable=True)


class FetchTopic(Struct):
    topic: String = field("0-12", ignorable=True)
    topic_id: Uuid = field("13+", ignorable=True)
    partitions: list[FetchPartition]


class ForgottenTopic(Struct):
    topic: String = field("7-12", ignorable=True)
    topic_id: Uuid = field("13+", ignorable=True)
    partitions: list[Int32]


class FetchRequest(Message, api_key=1, versions="0-17", flexible="12+"):
    cluster_id: String | None = field("12+", default=None, tag=0, ignorable=True)
    replica_id: Int32 = field("0-14", default=-1)
    replica_state: ReplicaState = field("15+", tag=1)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = field("3+", default=2147483647, ignorable=True)
    isolation_level: Int8 = field("4+", ignorable=True)
    session_id: Int32 = field("7+", ignorable=True)
    session_epoch: Int32 = field("7+", default=-1, ignorable=True)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic] = field("7+")
    rack_id: String = field("11+", ignorable=True)


class EpochEndOffset(Struct):
    epoch: Int32 = -1
    end_offset: Int64 = -1


class LeaderIdAndEpoch(Struct):
    leader_id: Int32 = -1
    leader_epoch: Int32 = -1


class SnapshotId(Struct):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Struct):
    producer_id: Int64
    first_offset: Int64


class PartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    high_watermark: Int64
    last_stable_offset: Int64 = field("4+", default=-1, ignorable=True)
    log_start_offset: Int64 = field("5+", default=-1, ignorable=True)
    diverging_epoch: EpochEndOffset = field("12+", tag=0)
    current_leader: LeaderIdAndEpoch = field("12+", tag=1)
    snapshot_id: SnapshotId = field("12+", tag=2)
    aborted_transactions: list[AbortedTransaction] | None = field("4+", ignorable=True)
    preferred_read_replica: Int32 = field("11+", default=-1)
    records: Records | None


class FetchableTopicResponse(Struct):
    topic: String = field("0-12", ignorable=True)
    topic_id: Uuid = field("13+", ignorable=True)
    partitions: list[PartitionData]


class NodeEndpoint(Struct):
    node_id: Int32
    host: String
    port: Int32
    rack: String | None = None


class FetchResponse(Message, api_key=1, versions="0-17", flexible="12+"):
    throttle_time_ms: Int32 = field("1+", ignorable=True)
    error_code: Int16 = field("7+", ignorable=True)
    session_id: Int32 = field("7+")
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint] = field("16+", tag=0)
