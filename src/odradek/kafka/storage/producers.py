"""What a partition knows of its producers: sequences, epochs, open transactions.

A producer numbers its records. A batch that follows the last one is taken; one that is among the
last five was taken before, and is answered as it was then; any other is out of order. A higher
epoch starts at zero and shuts out lower ones. Of a producer that is not known, any number is
taken: it may have been forgotten.

The first batch of a transaction is taken only if the coordinator says that the partition is in
it: otherwise a late batch would open a transaction that nobody ends (KIP-890). `verification`
begins that question, and whatever writes to the transaction meanwhile makes its answer void.

`check` decides and may refuse; `apply_*` makes it so, on followers and in recovery too, where
what is in the log is not questioned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.control import Marker, MarkerType
from odradek.kafka.wire.errors import ErrorCode

BATCHES_KEPT = 5
SEQUENCE_MAX = 2**31 - 1
NONE = -1


class KeptBatch(NamedTuple):
    """A batch that was appended, for recognising it when it comes again."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_sequence(self) -> int:
        return self.last_sequence - self.offset_delta & SEQUENCE_MAX

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta


@dataclass(slots=True)
class Producer:
    """One producer as this partition knows it."""

    producer_id: int
    epoch: int
    timestamp: int = NONE
    coordinator_epoch: int = NONE
    first_offset: int = NONE  # Of the open transaction.
    batches: list[KeptBatch] = field(default_factory=list)  # Of this epoch, oldest first.

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NONE

    def enter(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()

    def duplicate_of(self, batch: Batch) -> KeptBatch | None:
        if batch.producer_epoch != self.epoch:
            return None
        first_sequence, last_sequence = batch.base_sequence, batch.last_sequence
        for kept in self.batches:
            if kept.last_sequence == last_sequence and kept.first_sequence == first_sequence:
                return kept
        return None


@dataclass(slots=True, eq=False)
class Verification:
    """The question whether a transaction is open; who has the object may append when it is."""

    started_ms: int
    epoch: int
    # A later batch must wait for an earlier one whose question is asked again.
    lowest_sequence: int

    def join(self, epoch: int, sequence: int) -> None:
        """Another batch asks the same."""
        if epoch > self.epoch:
            self.epoch, self.lowest_sequence = epoch, sequence
        elif epoch == self.epoch:
            self.lowest_sequence = min(self.lowest_sequence, sequence)


class EndedTransaction(NamedTuple):
    """A transaction between its first record and its marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    is_aborted: bool


class Producers:
    """All producers of a partition, up to `end_offset`."""

    __slots__ = ("_open", "_verifications", "end_offset", "ended", "known")

    def __init__(self, end_offset: int = 0) -> None:
        self.known: dict[int, Producer] = {}
        self.end_offset = end_offset
        # First offset to producer. Transactions begin in the order of the log, so the first entry
        # is the oldest.
        self._open: dict[int, int] = {}
        self.ended: list[EndedTransaction] = []  # Above the high watermark.
        self._verifications: dict[int, Verification] = {}  # By producer id.

    def add(self, producer: Producer) -> None:
        """Take over a producer from a snapshot."""
        self.known[producer.producer_id] = producer
        if producer.first_offset != NONE:
            self._open[producer.first_offset] = producer.producer_id
            self._open = dict(sorted(self._open.items()))

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of what is undecided, or decided above the high watermark."""
        first = next(iter(self._open), None)
        if self.ended:
            ended = min(each.first_offset for each in self.ended)
            return ended if first is None else min(first, ended)
        return first

    def verification(
        self, producer_id: int, epoch: int, sequence: int, now_ms: int
    ) -> Verification | None:
        """Begin to ask for a producer's transaction, or join who asks; None if it is open here.

        What a coordinator writes in a producer's name has the sequence -1.
        """
        producer = self.known.get(producer_id)
        if producer is not None and producer.first_offset != NONE:
            return None
        found = self._verifications.get(producer_id)
        if found is None:
            found = self._verifications[producer_id] = Verification(now_ms, epoch, sequence)
        found.join(epoch, sequence)
        return found

    def is_verified(self, batch: Batch, verification: Verification | None) -> bool:
        """Whether a batch begins no transaction, or one that the coordinator knows of."""
        if not batch.is_transactional:
            return True
        producer = self.known.get(batch.producer_id)
        if producer and producer.first_offset != NONE:
            return True
        asked = self._verifications.get(batch.producer_id)
        return asked is not None and asked is verification

    def check(
        self, batch: Batch, *, is_numbered: bool = True, is_verified: bool = True
    ) -> KeptBatch | Refusal | None:
        """Say whether a batch may follow: None if so, or what it is a copy of.

        What a coordinator writes in a producer's name is not numbered.
        """
        producer = self.known.get(batch.producer_id)
        if producer and is_numbered and (kept := producer.duplicate_of(batch)):
            return kept
        if not is_verified:
            reason = "Record was not part of an ongoing transaction"
            return Refusal(ErrorCode.INVALID_TXN_STATE, reason)
        if producer and batch.producer_epoch < producer.epoch:
            return stale_epoch(batch, producer)
        if is_numbered and (refusal := self._check_turn(batch)):
            return refusal
        if producer and is_numbered and not follows(producer, batch):
            return out_of_order(batch, producer)
        if producer and producer.first_offset != NONE and not batch.is_transactional:
            reason = f"Expected transactional write from producer {batch.producer_id}"
            return Refusal(ErrorCode.INVALID_TXN_STATE, reason)
        return None

    def _check_turn(self, batch: Batch) -> Refusal | None:
        asked = self._verifications.get(batch.producer_id)
        if asked is None or batch.base_sequence <= asked.lowest_sequence:
            return None
        return Refusal(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"Out of order sequence number for producer {batch.producer_id}: "
            f"{batch.base_sequence} (incoming seq. number), "
            f"{asked.lowest_sequence} (earliest seen sequence)",
        )

    def check_marker(self, batch: Batch, marker: Marker) -> Refusal | None:
        """Say whether a coordinator may end a transaction."""
        producer = self.known.get(batch.producer_id)
        if producer is None:
            return None
        if batch.producer_epoch < producer.epoch:
            return stale_epoch(batch, producer)
        if marker.coordinator_epoch < producer.coordinator_epoch:
            return Refusal(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"Invalid coordinator epoch for producer {batch.producer_id}: "
                f"{marker.coordinator_epoch} (zombie), {producer.coordinator_epoch} (current)",
            )
        return None

    def apply_batch(self, batch: Batch) -> None:
        """Take account of a batch of data that is in the log."""
        producer = self._enter(batch)
        last_offset, delta = batch.last_offset, batch.last_offset_delta
        kept = KeptBatch(batch.last_sequence, last_offset, delta, batch.max_timestamp)
        producer.batches.append(kept)
        if len(producer.batches) > BATCHES_KEPT:
            del producer.batches[0]
        producer.timestamp = batch.max_timestamp
        if batch.is_transactional:
            self._verifications.pop(batch.producer_id, None)
            if producer.first_offset == NONE:
                producer.first_offset = batch.base_offset
                self._open[batch.base_offset] = batch.producer_id

    def apply_marker(self, batch: Batch, marker: Marker) -> AbortedTransaction | None:
        """Take account of a marker that is in the log; return what it aborts."""
        producer = self._enter(batch)
        self._verifications.pop(batch.producer_id, None)
        producer.coordinator_epoch = marker.coordinator_epoch
        producer.timestamp = batch.max_timestamp
        first_offset, producer.first_offset = producer.first_offset, NONE
        if first_offset == NONE:
            return None  # A transaction that wrote nothing here.
        self._open.pop(first_offset, None)
        is_aborted = marker.type is MarkerType.ABORT
        last_offset = batch.last_offset
        self.ended.append(
            EndedTransaction(batch.producer_id, first_offset, last_offset, is_aborted)
        )
        if not is_aborted:
            return None
        stable = next(iter(self._open), last_offset + 1)
        return AbortedTransaction(batch.producer_id, first_offset, last_offset, stable)

    def apply_high_watermark(self, high_watermark: int) -> None:
        """What ended below it is stable."""
        self.ended = [each for each in self.ended if each.last_offset >= high_watermark]

    def expire(self, now_ms: int, expiration_ms: int) -> None:
        """Forget who has not written for so long, unless a transaction is open."""
        for producer in list(self.known.values()):
            is_old = now_ms - producer.timestamp >= expiration_ms
            if is_old and producer.first_offset == NONE:
                del self.known[producer.producer_id]
        for producer_id, asked in list(self._verifications.items()):
            if now_ms - asked.started_ms >= expiration_ms:
                del self._verifications[producer_id]

    def _enter(self, batch: Batch) -> Producer:
        producer = self.known.get(batch.producer_id)
        if producer is None:
            producer = Producer(batch.producer_id, batch.producer_epoch)
            self.known[batch.producer_id] = producer
        producer.enter(batch.producer_epoch)
        return producer


def follows(producer: Producer, batch: Batch) -> bool:
    """Whether a batch has the next sequence; after the largest comes 0."""
    if batch.producer_epoch != producer.epoch:
        return batch.base_sequence == 0
    last = producer.last_sequence
    return batch.base_sequence == (0 if last == SEQUENCE_MAX else last + 1)


def out_of_order(batch: Batch, producer: Producer) -> Refusal:
    return Refusal(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"Out of order sequence number for producer {batch.producer_id}: "
        f"{batch.base_sequence} (incoming seq. number), "
        f"{producer.last_sequence} (current end sequence number)",
    )


def stale_epoch(batch: Batch, producer: Producer) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_PRODUCER_EPOCH,
        f"Epoch of producer {batch.producer_id} is {batch.producer_epoch}, "
        f"which is smaller than the last seen epoch {producer.epoch}",
    )
