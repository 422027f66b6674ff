"""Which batches of a fetch become rows.

Control batches never do. Whoever reads committed data is told by the broker which producers
aborted and from which offset on: their batches are left out until the marker that ends the
transaction. Batches with equal types of timestamp stay together, for the type is a constant of
the Arrow batch that they become.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetched
from odradek.kafka.wire.batch import ENTRY_START, MAGIC_POSITION, Batch, cut_entries
from odradek.kafka.wire.compression import codec_of
from odradek.kafka.wire.control import MarkerType, read_marker
from odradek.kafka.wire.message_set import MAGIC_1, read_message
from odradek.runtime.errors import ProtocolError
from odradek.spark.arrow.errors import UnreadableBatch

NO_TIMESTAMP_TYPE, CREATE_TIME, LOG_APPEND_TIME = -1, 0, 1
RECORD_BYTES_MIN = 7  # Length, attributes, two deltas, two lengths, a count: a byte each.


@dataclass(slots=True)
class Run:
    """Neighbours of one kind: batches of magic 2, or else messages of magic 0 and 1."""

    timestamp_type: int
    is_legacy: bool
    batches: list[Batch] = field(default_factory=list)
    messages: list[memoryview] = field(default_factory=list)


def select(fetched: Fetched, end: int, *, check_crcs: bool = True) -> Iterator[Run]:
    """The runs of a fetch that may hold records in [fetched.start, end)."""
    run: Run | None = None
    selection = _Selection(fetched, end, check_crcs)
    for entry in _entries(fetched):
        found = selection.look_at(entry)
        if found is None:
            continue
        if run is not None and _is_alike(run, found):
            run.batches += found.batches
            run.messages += found.messages
            continue
        if run is not None:
            yield run
        run = found
    if run is not None:
        yield run


def _entries(fetched: Fetched) -> Iterator[memoryview]:
    try:
        yield from cut_entries(fetched.data)
    except ProtocolError as error:
        raise UnreadableBatch(*fetched.partition, fetched.start, error) from error


def _is_alike(one: Run, other: Run) -> bool:
    return one.timestamp_type == other.timestamp_type and one.is_legacy == other.is_legacy


class _Selection:
    """Looks at one entry after another, and remembers whose transactions were aborted."""

    def __init__(self, fetched: Fetched, end: int, check_crcs: bool) -> None:
        self._partition: TopicPartition = fetched.partition
        self._start = fetched.start
        self._end = end
        self._check_crcs = check_crcs
        self._aborted = sorted((a.first_offset, a.producer_id) for a in fetched.aborted)
        self._aborting: set[int] = set()

    def look_at(self, entry: memoryview) -> Run | None:
        """The entry as a run of its own, or None if it has no row for us."""
        try:
            if entry[MAGIC_POSITION] == 2:
                return self._look_at_batch(Batch(entry))
            return self._look_at_message(entry)
        except ProtocolError as error:
            offset, _ = ENTRY_START.unpack_from(entry)
            raise UnreadableBatch(*self._partition, offset, error) from error

    def _look_at_batch(self, batch: Batch) -> Run | None:
        if self._check_crcs:
            batch.check_crc()
        self._begin_aborted(batch.last_offset)
        if batch.is_control:
            self._end_aborted(batch)
            return None
        if batch.is_transactional and batch.producer_id in self._aborting:
            return None
        if batch.last_offset < self._start or batch.base_offset >= self._end:
            return None
        if not batch.record_count:
            return None
        codec_of(batch.attributes)
        kind = LOG_APPEND_TIME if batch.is_append_time else CREATE_TIME
        return Run(kind, False, batches=[batch])

    def _look_at_message(self, entry: memoryview) -> Run | None:
        message = read_message(entry)
        if message.offset < self._start:  # Of a wrapper this is the last offset within.
            return None
        kind = CREATE_TIME if message.magic == MAGIC_1 else NO_TIMESTAMP_TYPE
        return Run(LOG_APPEND_TIME if message.is_append_time else kind, True, messages=[entry])

    def _begin_aborted(self, last_offset: int) -> None:
        while self._aborted and self._aborted[0][0] <= last_offset:
            _, producer_id = self._aborted.pop(0)
            self._aborting.add(producer_id)

    def _end_aborted(self, batch: Batch) -> None:
        if batch.producer_id in self._aborting:
            marker = read_marker(batch)
            if marker is not None and marker.type is MarkerType.ABORT:
                self._aborting.discard(batch.producer_id)
