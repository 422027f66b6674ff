"""The transactions that the cleaner comes through, on its way along the log.

Data of an aborted transaction goes. A marker stays while data of its transaction was still met
on this way; once none was, it can go, after its delete horizon. An aborted transaction is in the
new index as long as its marker has a use for readers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.control import MarkerType, read_marker


class CleanedTransactions:
    """What is known at one place of the log; batches must come in its order."""

    def __init__(self, aborted: Iterable[AbortedTransaction]) -> None:
        """`aborted` are all that have data in the part that is read."""
        self._coming = deque(sorted(aborted, key=lambda each: each.first_offset))
        self._aborted: dict[int, AbortedTransaction] = {}  # By producer, those under way...
        self._has_data: set[int] = set()  # ...and, aborted or not, those whose data was met.

    def is_aborted(self, batch: Batch) -> bool:
        """Pass a batch of data."""
        self._enter(batch.last_offset)
        if not batch.is_transactional:
            return False
        self._has_data.add(batch.producer_id)
        return batch.producer_id in self._aborted

    def end(self, batch: Batch) -> tuple[bool, AbortedTransaction | None]:
        """Pass a control batch: whether nobody needs it, and what it aborts for those who do."""
        self._enter(batch.last_offset)
        if not batch.record_count:
            return True, None  # It was cleaned before.
        marker = read_marker(batch)
        if marker is None:
            return False, None  # Of a kind that we do not know.
        aborted = None
        if marker.type is MarkerType.ABORT:
            aborted = self._aborted.pop(batch.producer_id, None)
        is_needed = batch.producer_id in self._has_data
        self._has_data.discard(batch.producer_id)
        return not is_needed, aborted if is_needed else None

    def _enter(self, last_offset: int) -> None:
        """Let those transactions begin that do so up to an offset."""
        while self._coming and self._coming[0].first_offset <= last_offset:
            begun = self._coming.popleft()
            self._aborted.setdefault(begun.producer_id, begun)
