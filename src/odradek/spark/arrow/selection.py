"""Which batches of a fetch become rows.

Control batches never do. Whoever reads committed data is told by the broker which producers
aborted and from which offset on: their batches are left out until the marker that ends the
transaction. Batches with equal types of timestamp stay together, for the type is a constant of
the Arrow batch that they become.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetched
from odradek.kafka.wire.batch import (
    CONTROL,
    ENTRY_START,
    MAGIC_POSITION,
    TRANSACTIONAL,
    Batch,
    cut_entries,
)
from odradek.kafka.wire.compression import codec_of
from odradek.kafka.wire.control import MarkerType, read_marker
from odradek.kafka.wire.message_set import MAGIC_1, Message, read_message
from odradek.runtime.errors import ProtocolError
from odradek.spark.arrow.errors import UnreadableBatch

NO_TIMESTAMP_TYPE, CREATE_TIME, LOG_APPEND_TIME = -1, 0, 1
Found = tuple[int, Batch | memoryview]
RECORD_BYTES_MIN = 7  # Length, attributes, two deltas, two lengths, a count: a byte each.


@dataclass(slots=True)
class Run:
    """Neighbours of one kind: batches of magic 2, or else messages of magic 0 and 1."""

    timestamp_type: int
    is_legacy: bool
    batches: list[Batch] = field(default_factory=list)
    messages: list[memoryview] = field(default_factory=list)

    def take(self, one: Batch | memoryview) -> None:
        if isinstance(one, Batch):
            self.batches.append(one)
        else:
            self.messages.append(one)


def select(fetched: Fetched, end: int, *, check_crcs: bool = True) -> Iterator[Run]:
    """The runs of a fetch that may hold records in [fetched.start, end)."""
    selection = _Selection(fetched, end, check_crcs)
    return gather(filter(None, map(selection.look_at, _entries(fetched))))


def gather(found: Iterable[Found]) -> Iterator[Run]:
    """Neighbours of one kind together."""
    run: Run | None = None
    for timestamp_type, one in found:
        is_legacy = not isinstance(one, Batch)
        if run is None or (run.timestamp_type, run.is_legacy) != (timestamp_type, is_legacy):
            if run is not None:
                yield run
            run = Run(timestamp_type, is_legacy)
        run.take(one)
    if run is not None:
        yield run


def _entries(fetched: Fetched) -> Iterator[memoryview]:
    try:
        yield from cut_entries(fetched.data)
    except ProtocolError as error:
        raise UnreadableBatch(*fetched.partition, fetched.start, error) from error


def timestamp_type(of: Batch | Message) -> int:
    """Whose time the records have; those of magic 0 have none."""
    if of.is_append_time:
        return LOG_APPEND_TIME
    is_timed = isinstance(of, Batch) or of.magic == MAGIC_1
    return CREATE_TIME if is_timed else NO_TIMESTAMP_TYPE


class _Selection:
    """Looks at one entry after another, and remembers whose transactions were aborted."""

    def __init__(self, fetched: Fetched, end: int, check_crcs: bool) -> None:
        self._partition: TopicPartition = fetched.partition
        self._start = fetched.start
        self._end = end
        self._check_crcs = check_crcs
        self._aborted = sorted((a.first_offset, a.producer_id) for a in fetched.aborted)
        self._aborting: set[int] = set()

    def look_at(self, entry: memoryview) -> Found | None:
        """The entry with the type of its timestamps, or None if it has no row for us."""
        try:
            if entry[MAGIC_POSITION] == 2:
                return self._look_at_batch(Batch(entry))
            return self._look_at_message(entry)
        except ProtocolError as error:
            offset, _ = ENTRY_START.unpack_from(entry)
            raise UnreadableBatch(*self._partition, offset, error) from error

    def _look_at_batch(self, batch: Batch) -> Found | None:
        if self._check_crcs:
            batch.check_crc()
        last_offset, attributes = batch.last_offset, batch.attributes
        if self._aborted:
            self._begin_aborted(last_offset)
        if attributes & CONTROL:
            self._end_aborted(batch)
            return None
        if attributes & TRANSACTIONAL and batch.producer_id in self._aborting:
            return None
        if last_offset < self._start or batch.base_offset >= self._end:
            return None
        if not batch.record_count:
            return None
        codec_of(attributes)
        return timestamp_type(batch), batch

    def _look_at_message(self, entry: memoryview) -> Found | None:
        message = read_message(entry)
        if message.offset < self._start:  # Of a wrapper this is the last offset within.
            return None
        return timestamp_type(message), entry

    def _begin_aborted(self, last_offset: int) -> None:
        while self._aborted and self._aborted[0][0] <= last_offset:
            _, producer_id = self._aborted.pop(0)
            self._aborting.add(producer_id)

    def _end_aborted(self, batch: Batch) -> None:
        if batch.producer_id in self._aborting:
            marker = read_marker(batch)
            if marker is not None and marker.type is MarkerType.ABORT:
                self._aborting.discard(batch.producer_id)
