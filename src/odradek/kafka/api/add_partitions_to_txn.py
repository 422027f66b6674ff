"""AddPartitionsToTxn (key 24, versions 0-5): a transaction will write to partitions.

A partition that does not exist fails the others of its transaction too: OPERATION_NOT_ATTEMPTED.
From version 4 on brokers ask, of many transactions at once, and maybe only whether the partitions
are in them.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.admin.names import is_internal
from odradek.kafka.broker.broker import Broker
from odradek.kafka.coordinator.offsets_answers import by_topic
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_effects import Token
from odradek.kafka.coordinator.txn_errors import for_version
from odradek.kafka.coordinator.txn_state import Claim
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

OF_BROKERS = 4

Codes = dict[TopicPartition, ErrorCode]


async def add_partitions_to_txn(
    message: AddPartitionsToTxnRequest, request: Request, broker: Broker
) -> AddPartitionsToTxnResponse:
    if request.version < OF_BROKERS:
        codes = await add(broker, request, only_transaction(message))
        return AddPartitionsToTxnResponse(
            throttle_time_ms=0, results_by_topic_v3_and_below=results(codes)
        )
    found = await asyncio.gather(*(add(broker, request, each) for each in message.transactions))
    return AddPartitionsToTxnResponse(
        throttle_time_ms=0,
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=each.transactional_id, topic_results=results(codes)
            )
            for each, codes in zip(message.transactions, found, strict=True)
        ],
    )


def only_transaction(message: AddPartitionsToTxnRequest) -> AddPartitionsToTxnTransaction:
    return AddPartitionsToTxnTransaction(
        transactional_id=message.v3_and_below_transactional_id,
        producer_id=message.v3_and_below_producer_id,
        producer_epoch=message.v3_and_below_producer_epoch,
        topics=message.v3_and_below_topics,
    )


async def add(
    broker: Broker, request: Request, transaction: AddPartitionsToTxnTransaction
) -> Codes:
    """Add partitions to one transaction, or look whether they are in it."""
    id_ = transaction.transactional_id
    partitions = [
        TopicPartition(topic.name, index)
        for topic in transaction.topics
        for index in topic.partitions
    ]
    if refused := refusals(broker, partitions, is_client=request.version < OF_BROKERS):
        return dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED) | refused
    claim = Claim(id_, transaction.producer_id, transaction.producer_epoch)
    shards = broker.coordinators.transactions
    if transaction.verify_only:
        return shards.shard_of(id_).verify_partitions(claim, partitions)

    def handle(shard: TransactionShard, token: Token, now_ms: int) -> None:
        shard.add_partitions(token, claim, partitions, now_ms)

    answer = await shards.ask(id_, handle)
    code = for_version(answer.code, request.api.key, request.version)
    return dict.fromkeys(partitions, code)


def refusals(broker: Broker, partitions: list[TopicPartition], *, is_client: bool) -> Codes:
    refused: Codes = {}
    for each in partitions:
        if is_client and is_internal(each.topic):
            refused[each] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        elif broker.metadata.partition(*each) is None:
            refused[each] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return refused


def results(codes: Codes) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(name=name, results_by_partition=partitions)
        for name, partitions in by_topic(codes, _result).items()
    ]


def _result(index: int, code: ErrorCode) -> AddPartitionsToTxnPartitionResult:
    return AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
