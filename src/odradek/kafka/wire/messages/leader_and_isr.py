"""LeaderAndIsr (key 4, versions 0-7, flexible from 4).

The controller tells a broker which replicas it leads and follows.
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


class LeaderAndIsrPartitionState(Struct):
    topic_name: String = field("0-1", ignorable=True)
    partition_index: Int32
    controller_epoch: Int32
    leader: Int32
    leader_epoch: Int32
    isr: list[Int32]
    partition_epoch: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32] = field("3+", ignorable=True)
    removing_replicas: list[Int32] = field("3+", ignorable=True)
    is_new: Bool = field("1+", ignorable=True)
    leader_recovery_state: Int8 = field("6+")


class LeaderAndIsrTopicState(Struct):
    topic_name: String
    topic_id: Uuid = field("5+", ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState]


class LeaderAndIsrLiveLeader(Struct):
    broker_id: Int32
    host_name: String
    port: Int32


class LeaderAndIsrRequest(Message, api_key=4, versions="0-7", flexible="4+"):
    controller_id: Int32
    is_kraft_controller: Bool = field("7+")
    controller_epoch: Int32
    broker_epoch: Int64 = field("2+", default=-1, ignorable=True)
    type: Int8 = field("5+")
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = field("0-1")
    topic_states: list[LeaderAndIsrTopicState] = field("2+")
    live_leaders: list[LeaderAndIsrLiveLeader]


class LeaderAndIsrPartitionError(Struct):
    topic_name: String = field("0-4", ignorable=True)
    partition_index: Int32
    error_code: Int16


class LeaderAndIsrTopicError(Struct):
    topic_id: Uuid
    partition_errors: list[LeaderAndIsrPartitionError]


class LeaderAndIsrResponse(Message, api_key=4, versions="0-7", flexible="4+"):
    error_code: Int16
    partition_errors: list[LeaderAndIsrPartitionError] = field("0-4")
    topics: list[LeaderAndIsrTopicError] = field("5+")
