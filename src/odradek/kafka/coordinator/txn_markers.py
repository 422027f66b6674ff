"""Decisions on their way into the partitions: which markers are still to be written.

Each attempt at a decision has a number, so that an answer that comes late, of a transaction that
is over or from before this broker became coordinator, is taken for nothing. A transaction and
the next may well have the same producer and epoch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from odradek.kafka.coordinator.txn_deadlines import Deadlines
from odradek.kafka.coordinator.txn_effects import Markers
from odradek.kafka.coordinator.txn_state import State, Transaction
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.control import MarkerType


@dataclass(slots=True)
class Sending:
    """One decision."""

    number: int
    transaction: Transaction  # As decided.
    completed: Transaction  # As it is to be logged in the end.
    left: set[TopicPartition]
    again: set[TopicPartition] = field(default_factory=set)  # Of those left, not under way.


class Sendings:
    """All decisions of a shard whose markers are not all written."""

    __slots__ = ("_by_number", "_retries", "coordinator_epoch")

    def __init__(self, coordinator_epoch: int) -> None:
        self.coordinator_epoch = coordinator_epoch
        self._by_number: dict[int, Sending] = {}
        self._retries: Deadlines[int] = Deadlines()

    def start(self, number: int, transaction: Transaction, completed: Transaction) -> Markers:
        """Have the markers of a decision written."""
        sending = Sending(number, transaction, completed, set(transaction.partitions))
        self._by_number[number] = sending
        return self._markers(sending, sending.left)

    def get(self, number: int) -> Sending | None:
        return self._by_number.get(number)

    def drop(self, number: int) -> None:
        del self._by_number[number]

    def written(self, sending: Sending, partitions: Iterable[TopicPartition]) -> None:
        sending.left.difference_update(partitions)
        sending.again.intersection_update(sending.left)

    def repeat_at(self, sending: Sending, partitions: Iterable[TopicPartition], at_ms: int) -> None:
        """Try these again, if they are still to be written."""
        sending.again.update(sending.left.intersection(partitions))
        if sending.again:
            self._retries.set(sending.number, at_ms)

    def take_due(self, now_ms: int) -> list[Markers]:
        """What is to be sent once more."""
        found = [self._by_number.get(number) for number in self._retries.take_due(now_ms)]
        return [self._take_again(sending) for sending in found if sending and sending.again]

    @property
    def waiting_count(self) -> int:
        """How many markers nobody could be found for yet, or were refused and will be repeated."""
        return sum(len(sending.again) for sending in self._by_number.values())

    @property
    def next_ms(self) -> int | None:
        return self._retries.next_ms

    def _take_again(self, sending: Sending) -> Markers:
        partitions, sending.again = sending.again, set()
        return self._markers(sending, partitions)

    def _markers(self, sending: Sending, partitions: set[TopicPartition]) -> Markers:
        transaction = sending.transaction
        is_commit = transaction.state is State.PREPARE_COMMIT
        return Markers(
            sending.number,
            transaction.transactional_id,
            transaction.producer_id,
            transaction.producer_epoch,
            MarkerType.COMMIT if is_commit else MarkerType.ABORT,
            self.coordinator_epoch,
            tuple(sorted(partitions)),
        )
