"""StopReplica (key 5, versions 0-4, flexible from 2).

The controller tells a broker to stop, and perhaps delete, replicas.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String, Struct, field


class StopReplicaPartitionV0(Struct):
    topic_name: String
    partition_index: Int32


class StopReplicaTopicV1(Struct):
    name: String
    partition_indexes: list[Int32]


class StopReplicaPartitionState(Struct):
    partition_index: Int32
    leader_epoch: Int32 = -1
    delete_partition: Bool


class StopReplicaTopicState(Struct):
    topic_name: String
    partition_states: list[StopReplicaPartitionState]


class StopReplicaRequest(Message, api_key=5, versions="0-4", flexible="2+"):
    controller_id: Int32
    is_kraft_controller: Bool = field("4+")
    controller_epoch: Int32
    broker_epoch: Int64 = field("1+", default=-1, ignorable=True)
    delete_partitions: Bool = field("0-2")
    ungrouped_partitions: list[StopReplicaPartitionV0] = field("0")
    topics: list[StopReplicaTopicV1] = field("1-2")
    topic_states: list[StopReplicaTopicState] = field("3+")


class StopReplicaPartitionError(Struct):
    topic_name: String
    partition_index: Int32
    error_code: Int16


class StopReplicaResponse(Message, api_key=5, versions="0-4", flexible="2+"):
    error_code: Int16
    partition_errors: list[StopReplicaPartitionError]
