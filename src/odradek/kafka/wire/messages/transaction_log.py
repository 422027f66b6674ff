"""The record in `__transaction_state` that holds a transaction."""

from __future__ import annotations

from odradek.kafka.wire.schema import Int8, Int16, Int32, Int64, Message, String, Struct


class TransactionLogKey(Message, versions="0"):
    transactional_id: String


class PartitionsSchema(Struct):
    topic: String
    partition_ids: list[Int32]


class TransactionLogValue(Message, versions="0-1", flexible="1+"):
    producer_id: Int64
    producer_epoch: Int16
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[PartitionsSchema] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
