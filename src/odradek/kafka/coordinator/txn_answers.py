"""What operators see of transactions: DescribeTransactions and ListTransactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.kafka.coordinator.transactions import Phase, TransactionShard
from odradek.kafka.coordinator.txn_records import group_by_topic
from odradek.kafka.coordinator.txn_state import STATES, Transaction
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages import describe_transactions, list_transactions
from odradek.kafka.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)


def describe(
    shard: TransactionShard | None, transactional_id: str
) -> describe_transactions.TransactionState:
    """One transaction, from the shard that would hold it; None if that is another broker's."""
    if not transactional_id:
        return _undescribed(transactional_id, ErrorCode.INVALID_REQUEST)
    if shard is None:
        return _undescribed(transactional_id, ErrorCode.NOT_COORDINATOR)
    if shard.phase is not Phase.ACTIVE:
        return _undescribed(transactional_id, shard.phase.value)
    held = shard.held.get(transactional_id)
    if held is None:
        return _undescribed(transactional_id, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    return _described(held.transaction)


def list_all(
    shards: Iterable[TransactionShard], request: ListTransactionsRequest, now_ms: int
) -> ListTransactionsResponse:
    """All transactions of a broker that pass the filters; an empty filter lets all pass."""
    shards = [shard for shard in shards if shard.phase is not Phase.UNLOADED]
    if any(shard.phase is Phase.LOADING for shard in shards):
        code = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        return _listed(code, unknown=[], found=[])
    held = (held for shard in shards for held in shard.held.values())
    found = [each.transaction for each in held if passes(each.transaction, request, now_ms)]
    unknown = [word for word in request.state_filters if word not in STATES]
    return _listed(ErrorCode.NONE, unknown, found)


def passes(transaction: Transaction, request: ListTransactionsRequest, now_ms: int) -> bool:
    producer_ids, states = request.producer_id_filters, request.state_filters
    if producer_ids and transaction.producer_id not in producer_ids:
        return False
    if states and transaction.state.word not in states:
        return False
    duration_ms = request.duration_filter
    return duration_ms < 0 or now_ms - transaction.started_ms > duration_ms


def _described(transaction: Transaction) -> describe_transactions.TransactionState:
    return describe_transactions.TransactionState(
        error_code=ErrorCode.NONE,
        transactional_id=transaction.transactional_id,
        transaction_state=transaction.state.word,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=list(_topics(transaction)),
    )


def _topics(transaction: Transaction) -> Iterator[describe_transactions.TopicData]:
    for topic, partitions in group_by_topic(transaction.partitions):
        yield describe_transactions.TopicData(topic=topic, partitions=partitions)


def _undescribed(transactional_id: str, code: ErrorCode) -> describe_transactions.TransactionState:
    return describe_transactions.TransactionState(
        error_code=code,
        transactional_id=transactional_id,
        transaction_state="",
        transaction_timeout_ms=0,
        transaction_start_time_ms=0,
        producer_id=0,
        producer_epoch=0,
        topics=[],
    )


def _listed(
    code: ErrorCode, unknown: list[str], found: list[Transaction]
) -> ListTransactionsResponse:
    return ListTransactionsResponse(
        throttle_time_ms=0,
        error_code=code,
        unknown_state_filters=unknown,
        transaction_states=[
            list_transactions.TransactionState(
                transactional_id=each.transactional_id,
                producer_id=each.producer_id,
                transaction_state=each.state.word,
            )
            for each in found
        ],
    )
