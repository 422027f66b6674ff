"""Finding things in a view of a log: batches from an offset on, offsets by time.

A reader gets whole batches: from the one that holds its offset, even if that is in the middle,
to the last one that fits and begins below the upper bound. The first batch comes even if it does
not fit, or nobody could ever get past it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.heads import NO_TIMESTAMP, Head, walk_heads, whole_end
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.source import LARGE_BYTES, Source
from odradek.kafka.storage.view import SegmentView
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.message_set import read_message, unwrap
from odradek.kafka.wire.records import Record, read_records

FEW = 4


class Fetched(NamedTuple):
    """Whole batches as they are in the file, and where to go on."""

    data: bytes | memoryview
    next_offset: int
    aborted: tuple[AbortedTransaction, ...] = ()
    segment: Segment | None = None  # Where what follows will be...
    next_position: int = 0  # ...and at which position.


class TimedOffset(NamedTuple):
    """A record's place, and its time."""

    offset: int
    timestamp: int
    leader_epoch: int


class Wanted(NamedTuple):
    """What a reader asks for."""

    offset: int
    bytes_max: int
    upper_offset: int
    is_first_whole: bool = True


def fetch(source: Source, views: Sequence[SegmentView], wanted: Wanted) -> Fetched:
    """Batches from the first segment that has any at or after the offset."""
    for view in views:
        head = next(view.heads_from(source, wanted.offset), None)
        if head is not None:
            return fetch_at(source, view, head.position, wanted)
    return Fetched(b"", wanted.offset)


def fetch_at(source: Source, view: SegmentView, position: int, wanted: Wanted) -> Fetched:
    """Batches from one that begins at this position."""
    size = view.size(source)
    fitting = min(wanted.bytes_max, size - position)
    if fitting >= LARGE_BYTES:
        fitting = whole_bytes(source, view.path, position, fitting)
    data = source.read_large(view.path, position, fitting)
    count, last_offset = whole_end(data, position, wanted.upper_offset)
    if last_offset is None and wanted.is_first_whole:
        first = _head_at(source, view, position)
        if first is not None and first.base_offset < wanted.upper_offset:
            data = source.read_large(view.path, position, first.size)
            count, last_offset = first.size, first.last_offset
    if last_offset is None:
        return Fetched(b"", wanted.offset)
    whole = data if count == len(data) else memoryview(data)[:count]
    # Whoever is at the end of a finished segment goes on in the next.
    goes_on = position + count < size or not view.is_finished
    segment = view.segment if goes_on else None
    return Fetched(whole, last_offset + 1, (), segment, position + count)


def whole_bytes(source: Source, path: str, position: int, count: int) -> int:
    """How many of so many bytes are worth reading: of a few large batches those that are whole.

    Of many small ones no more than a little would be read in vain.
    """
    end = position
    for head in walk_heads(source, path, position, position + count):
        if head.size < count // FEW:
            return count
        end = head.end
    return end - position


def fetch_committed(source: Source, views: Sequence[SegmentView], wanted: Wanted) -> Fetched:
    """As `fetch`, with the aborted transactions of what is fetched."""
    fetched = fetch(source, views, wanted)
    if not fetched.data:
        return fetched
    aborted = aborted_between(source, views, wanted.offset, fetched.next_offset)
    return fetched._replace(aborted=aborted)


def aborted_between(
    source: Source, views: Sequence[SegmentView], start_offset: int, end_offset: int
) -> tuple[AbortedTransaction, ...]:
    """The aborted transactions with records in this range."""
    found: list[AbortedTransaction] = []
    for view in views:
        for entry in view.aborted(source):
            if entry.overlaps(start_offset, end_offset):
                found.append(entry)
            if entry.last_stable_offset >= end_offset:
                return tuple(found)
    return tuple(found)


def largest_timestamp(source: Source, view: SegmentView) -> int:
    """The largest of a finished segment; -1 if its records have none."""
    last = view.times(source).last(source)
    return last[0] if last else NO_TIMESTAMP


def first_since(
    source: Source, views: Sequence[SegmentView], timestamp: int, start_offset: int
) -> TimedOffset | None:
    """The first record, from an offset on, that is not older than a time."""
    for view in views:
        known = view.times(source).floor(source, timestamp - 1)
        # All up to that entry's offset is older.
        offset = max(start_offset, view.base_offset + known[1] if known else 0)
        for head in view.heads_from(source, offset):
            if head.max_timestamp >= timestamp:
                for record in _records(source, view, head):
                    if record.timestamp >= timestamp and record.offset >= start_offset:
                        return TimedOffset(record.offset, record.timestamp, head.leader_epoch)
    return None


def youngest(
    source: Source, views: Sequence[SegmentView], active_timestamp: int | None
) -> TimedOffset | None:
    """The first record with the largest timestamp of all; None stands for what the files say."""
    largest = [largest_timestamp(source, view) for view in views]
    if active_timestamp is not None:
        largest[-1] = active_timestamp
    timestamp = max(largest)
    if timestamp < 0:
        return None
    return first_since(source, views[largest.index(timestamp) :], timestamp, 0)


def _head_at(source: Source, view: SegmentView, position: int) -> Head | None:
    return next(walk_heads(source, view.path, position, view.size(source)), None)


def _records(source: Source, view: SegmentView, head: Head) -> list[Record]:
    data = memoryview(source.read(view.path, head.position, head.size))
    return list(read_records(Batch(data)) if head.magic == 2 else unwrap(read_message(data)))
