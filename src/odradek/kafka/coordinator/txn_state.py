"""A transaction as its coordinator knows it.

    Empty, Complete*  --a partition is added-->  Ongoing
    Ongoing           --the client's or our decision, logged-->  PrepareCommit, PrepareAbort
    Prepare*          --markers are in all partitions, logged-->  CompleteCommit, CompleteAbort
    Empty, Complete*  --a producer starts anew, epoch + 1-->  Empty

A `Transaction` is a value: what the log says, and who had the id before, which it does not say.
A `Held` is its place in memory. While a move is being logged it is `pending`, and no other may
begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from odradek.kafka.storage.names import TopicPartition

NONE = -1
EPOCH_MAX = 2**15 - 1


class State(IntEnum):
    """As stored. The last two never are: they only show that something is going on."""

    EMPTY = 0
    ONGOING = 1
    PREPARE_COMMIT = 2
    PREPARE_ABORT = 3
    COMPLETE_COMMIT = 4
    COMPLETE_ABORT = 5
    DEAD = 6
    PREPARE_EPOCH_FENCE = 7

    @property
    def word(self) -> str:
        """As clients read it: `PrepareCommit`."""
        return self.name.title().replace("_", "")


STATES = {state.word: state for state in State}
COMPLETE = frozenset({State.COMPLETE_COMMIT, State.COMPLETE_ABORT})
AT_REST = COMPLETE | {State.EMPTY}
PREPARED = frozenset({State.PREPARE_COMMIT, State.PREPARE_ABORT})
STORED = AT_REST | PREPARED | {State.ONGOING}


class Claim(NamedTuple):
    """Who a request says that it comes from."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


@dataclass(frozen=True, slots=True)
class Transaction:
    """The last transaction of a transactional id, or the one that is open."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: State
    partitions: frozenset[TopicPartition]
    started_ms: int
    updated_ms: int
    # From before the producer started anew, so that a repeated request is known for one. The log
    # does not hold them.
    last_producer_id: int = NONE
    last_producer_epoch: int = NONE

    @property
    def is_exhausted(self) -> bool:
        """Whether a client may get no further epoch: one is kept for shutting it out."""
        return is_exhausted(self.producer_epoch)


@dataclass(slots=True)
class Held:
    """A transaction's place in memory."""

    transaction: Transaction
    pending: State | None = None
    # The log may lack the epoch that shut out a producer. It was never given to anybody, so the
    # next attempt uses it again.
    has_failed_fence: bool = False


def is_exhausted(producer_epoch: int) -> bool:
    return producer_epoch >= EPOCH_MAX - 1


def created(transactional_id: str, producer_id: int, timeout_ms: int, now_ms: int) -> Transaction:
    """A transactional id that nobody knew; it has no epoch until the first is logged."""
    nothing: frozenset[TopicPartition] = frozenset()
    return Transaction(
        transactional_id, producer_id, NONE, timeout_ms, State.EMPTY, nothing, NONE, now_ms
    )
