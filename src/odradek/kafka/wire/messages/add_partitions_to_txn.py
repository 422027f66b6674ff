"""AddPartitionsToTxn (key 24, versions 0-5, flexible from 3).

Tell the coordinator which partitions a transaction writes to, or ask it (v4+).
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String, Struct, field


class AddPartitionsToTxnTopic(Struct):
    name: String
    partitions: list[Int32]


class AddPartitionsToTxnTransaction(Struct):
    transactional_id: String
    producer_id: Int64
    producer_epoch: Int16
    verify_only: Bool = False
    topics: list[AddPartitionsToTxnTopic]


class AddPartitionsToTxnRequest(Message, api_key=24, versions="0-5", flexible="3+"):
    transactions: list[AddPartitionsToTxnTransaction] = field("4+")
    v3_and_below_transactional_id: String = field("0-3")
    v3_and_below_producer_id: Int64 = field("0-3")
    v3_and_below_producer_epoch: Int16 = field("0-3")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field("0-3")


class AddPartitionsToTxnTopicResult(Struct):
    name: String
    results_by_partition: list[AddPartitionsToTxnPartitionResult]


class AddPartitionsToTxnPartitionResult(Struct):
    partition_index: Int32
    partition_error_code: Int16


class AddPartitionsToTxnResult(Struct):
    transactional_id: String
    topic_results: list[AddPartitionsToTxnTopicResult]


class AddPartitionsToTxnResponse(Message, api_key=24, versions="0-5", flexible="3+"):
    throttle_time_ms: Int32
    error_code: Int16 = field("4+", ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = field("4+")
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field("0-3")
