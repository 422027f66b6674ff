"""What a request would do to a transaction, state by state, as Kafka 3.9 answers it.

A decision is the transaction as it shall be logged. An `ErrorCode` is the answer as it stands:
nothing is to be logged, because the request is refused or, with NONE, what it asks for is so
already. Nothing is changed here.

A producer is known by its id and its epoch. A higher epoch shuts out whoever has a lower one, so
an open transaction is never taken from its producer without one: `decide_fence`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from odradek.kafka.coordinator.txn_state import (
    AT_REST,
    EPOCH_MAX,
    NONE,
    PREPARED,
    Claim,
    Held,
    State,
    Transaction,
    is_exhausted,
)
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode

TakeId = Callable[[], int | None]
Decision = Transaction | ErrorCode


class Expected(NamedTuple):
    """The id and epoch that a producer had when it asked for the next epoch (KIP-360)."""

    producer_id: int
    producer_epoch: int


def decide_init(
    held: Held, timeout_ms: int, expected: Expected | None, take_id: TakeId, now_ms: int
) -> Decision:
    """A producer starts anew, or goes on after an error with the next epoch.

    An open transaction is aborted first; the client will ask again. So a decision in the state
    PrepareAbort is no answer to it.
    """
    transaction = held.transaction
    if held.pending is not None:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if expected and not _is_plausible(transaction, expected):
        return ErrorCode.PRODUCER_FENCED
    if transaction.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if transaction.state is State.ONGOING:
        return decide_fence(held, now_ms)
    epoch = expected.producer_epoch if expected else None
    if transaction.is_exhausted and epoch in (None, transaction.producer_epoch):
        return _with_next_id(transaction, timeout_ms, expected, take_id(), now_ms)
    return _with_next_epoch(transaction, timeout_ms, epoch, now_ms)


def decide_add(
    held: Held, claim: Claim, partitions: frozenset[TopicPartition], now_ms: int
) -> Decision:
    """Partitions join a transaction; the first ones begin it."""
    transaction = held.transaction
    if refusal := _refuse_claim(transaction, claim):
        return refusal
    if held.pending is not None or transaction.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if claim.producer_epoch < 0:
        return ErrorCode.UNKNOWN_SERVER_ERROR  # Nobody was given this id yet.
    if transaction.state is State.ONGOING and partitions <= transaction.partitions:
        return ErrorCode.NONE
    is_first = transaction.state in AT_REST
    return replace(
        transaction,
        state=State.ONGOING,
        partitions=transaction.partitions | partitions,
        started_ms=now_ms if is_first else transaction.started_ms,
        updated_ms=now_ms,
    )


def verify(held: Held, claim: Claim, partition: TopicPartition) -> ErrorCode:
    """Say whether a partition is in the open transaction, before it takes the first records.

    What is pending does not matter: whoever appends looks once more (KIP-890).
    """
    transaction = held.transaction
    if refusal := _refuse_claim(transaction, claim):
        return refusal
    if transaction.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    is_in = partition in transaction.partitions
    return ErrorCode.NONE if is_in else ErrorCode.TRANSACTION_ABORTABLE


def decide_end(held: Held, claim: Claim, is_commit: bool, now_ms: int) -> Decision:
    """A client commits or aborts. What is decided stays so; asked again, it is answered again."""
    transaction = held.transaction
    if refusal := _refuse_claim(transaction, claim):
        return refusal
    if held.pending is not None:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    prepare = State.PREPARE_COMMIT if is_commit else State.PREPARE_ABORT
    complete = State.COMPLETE_COMMIT if is_commit else State.COMPLETE_ABORT
    if transaction.state is State.ONGOING:
        return replace(transaction, state=prepare, updated_ms=now_ms)
    if transaction.state is prepare:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    return ErrorCode.NONE if transaction.state is complete else ErrorCode.INVALID_TXN_STATE


def decide_fence(held: Held, now_ms: int) -> Transaction:
    """Abort an open transaction, and shut out its producer by an epoch that nobody has."""
    transaction = held.transaction
    assert transaction.state is State.ONGOING and held.pending is None
    epoch = transaction.producer_epoch
    return replace(
        transaction,
        state=State.PREPARE_ABORT,
        producer_epoch=epoch if held.has_failed_fence else min(epoch + 1, EPOCH_MAX),
        last_producer_epoch=NONE,
        updated_ms=now_ms,
    )


def decide_complete(transaction: Transaction, now_ms: int) -> Transaction:
    """What is to be logged when all markers are written."""
    is_commit = transaction.state is State.PREPARE_COMMIT
    return replace(
        transaction,
        state=State.COMPLETE_COMMIT if is_commit else State.COMPLETE_ABORT,
        partitions=frozenset(),
        updated_ms=now_ms,
    )


def _refuse_claim(transaction: Transaction, claim: Claim) -> ErrorCode | None:
    if claim.producer_id != transaction.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if claim.producer_epoch != transaction.producer_epoch:
        return ErrorCode.PRODUCER_FENCED
    return None


def _is_plausible(transaction: Transaction, expected: Expected) -> bool:
    """Whether a producer may be the one we know, its epoch apart.

    An id that has just been made is nobody's yet; an older id may come from a producer that never
    heard that its epochs were used up.
    """
    if transaction.producer_epoch == NONE or expected.producer_id == transaction.producer_id:
        return True
    is_last = expected.producer_id == transaction.last_producer_id
    return is_last and is_exhausted(expected.producer_epoch)


def _with_next_epoch(
    transaction: Transaction, timeout_ms: int, expected_epoch: int | None, now_ms: int
) -> Decision:
    epoch = transaction.producer_epoch
    if expected_epoch is None:
        epochs = epoch + 1, NONE
    elif epoch == NONE or expected_epoch == epoch:
        epochs = epoch + 1, epoch
    elif expected_epoch == transaction.last_producer_epoch:
        # The answer to the same request was lost. A new producer would have cleared the last epoch.
        epochs = epoch, expected_epoch
    else:
        return ErrorCode.PRODUCER_FENCED
    return _restarted(transaction, transaction.producer_id, epochs, timeout_ms, now_ms)


def _with_next_id(
    transaction: Transaction,
    timeout_ms: int,
    expected: Expected | None,
    producer_id: int | None,
    now_ms: int,
) -> Decision:
    if producer_id is None:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    last_epoch = transaction.producer_epoch if expected else NONE
    return _restarted(transaction, producer_id, (0, last_epoch), timeout_ms, now_ms)


def _restarted(
    transaction: Transaction,
    producer_id: int,
    epochs: tuple[int, int],
    timeout_ms: int,
    now_ms: int,
) -> Transaction:
    return Transaction(
        transaction.transactional_id,
        producer_id,
        epochs[0],
        timeout_ms,
        State.EMPTY,
        frozenset(),
        NONE,
        now_ms,
        last_producer_id=transaction.producer_id,
        last_producer_epoch=epochs[1],
    )
