"""AlterPartition (key 56, versions 0-3, flexible from 0).

A leader asks the controller for another ISR.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import (
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


class BrokerState(Struct):
    broker_id: Int32
    broker_epoch: Int64 = -1


class AlterPartitionRequestPartitionData(Struct):
    partition_index: Int32
    leader_epoch: Int32
    new_isr: list[Int32] = field("0-2")
    new_isr_with_epochs: list[BrokerState] = field("3+")
    leader_recovery_state: Int8 = field("1+")
    partition_epoch: Int32


class AlterPartitionRequestTopicData(Struct):
    topic_name: String = field("0-1", ignorable=True)
    topic_id: Uuid = field("2+", ignorable=True)
    partitions: list[AlterPartitionRequestPartitionData]


class AlterPartitionRequest(Message, api_key=56, versions="0-3", flexible="0+"):
    broker_id: Int32
    broker_epoch: Int64 = -1
    topics: list[AlterPartitionRequestTopicData]


class AlterPartitionResponsePartitionData(Struct):
    partition_index: Int32
    error_code: Int16
    leader_id: Int32
    leader_epoch: Int32
    isr: list[Int32]
    leader_recovery_state: Int8 = field("1+", ignorable=True)
    partition_epoch: Int32


class AlterPartitionResponseTopicData(Struct):
    topic_name: String = field("0-1", ignorable=True)
    topic_id: Uuid = field("2+", ignorable=True)
    partitions: list[AlterPartitionResponsePartitionData]


class AlterPartitionResponse(Message, api_key=56, versions="0-3", flexible="0+"):
    throttle_time_ms: Int32
    error_code: Int16
    topics: list[AlterPartitionResponseTopicData]
