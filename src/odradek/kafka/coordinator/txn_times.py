"""When a transaction has been open too long, and an id unused so long that it is forgotten.

Kafka looks at all transactions at intervals. We come at the same times, but only to those that
are due, and only at times when one is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from odradek.kafka.coordinator.txn_deadlines import Deadlines
from odradek.kafka.coordinator.txn_settings import TransactionShardSettings
from odradek.kafka.coordinator.txn_state import AT_REST, Held, State, Transaction


class Times:
    """The deadlines of the transactions of one shard, which serves since `started_ms`."""

    __slots__ = ("_expirations", "_held", "_settings", "_started_ms", "_timeouts")

    def __init__(
        self, held: dict[str, Held], settings: TransactionShardSettings, started_ms: int
    ) -> None:
        self._held = held
        self._settings = settings
        self._started_ms = started_ms
        self._timeouts: Deadlines[str] = Deadlines()
        self._expirations: Deadlines[str] = Deadlines()

    def set(self, transaction: Transaction, now_ms: int) -> None:
        """Remember when this transaction must be looked at, as it is now."""
        settings, key = self._settings, transaction.transactional_id
        if transaction.state is State.ONGOING:
            due_ms = max(self._timeout_ms(transaction), now_ms + 1)
            self._timeouts.set(key, self._round_up(due_ms, settings.abort_interval_ms))
        elif transaction.state in AT_REST:
            due_ms = max(self._expiration_ms(transaction), now_ms + 1)
            self._expirations.set(key, self._round_up(due_ms, settings.expire_interval_ms))

    @property
    def next_ms(self) -> int | None:
        found = [each.next_ms for each in (self._timeouts, self._expirations)]
        return min((each for each in found if each is not None), default=None)

    def take_timed_out(self, now_ms: int) -> Iterator[Held]:
        """Those whose transaction is open too long."""
        for held in self._take(self._timeouts, now_ms, self._timeout_ms):
            if held.transaction.state is State.ONGOING:
                yield held

    def take_expired(self, now_ms: int) -> Iterator[Held]:
        """Those that are at rest too long."""
        for held in self._take(self._expirations, now_ms, self._expiration_ms):
            if held.transaction.state in AT_REST:
                yield held

    def _take(
        self, deadlines: Deadlines[str], now_ms: int, due_ms: Callable[[Transaction], int]
    ) -> Iterator[Held]:
        for key in list(deadlines.take_due(now_ms)):
            held = self._held.get(key)
            if held is None or held.pending is not None:
                continue  # Whatever is pending sets the deadline when it is over.
            if due_ms(held.transaction) <= now_ms:
                yield held
            else:
                self.set(held.transaction, now_ms)

    def _timeout_ms(self, transaction: Transaction) -> int:
        return transaction.started_ms + transaction.timeout_ms + 1

    def _expiration_ms(self, transaction: Transaction) -> int:
        return transaction.updated_ms + self._settings.id_expiration_ms

    def _round_up(self, due_ms: int, interval_ms: int) -> int:
        turns = max(1, -(-(due_ms - self._started_ms) // interval_ms))
        return self._started_ms + turns * interval_ms
