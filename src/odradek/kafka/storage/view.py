"""Some segments of a log as they were at a moment.

A reader, in whatever thread, needs nothing but a view and a source of bytes: the log may go on
growing meanwhile. All segments but the active one are finished, and their files say how long they
are; of the active one only what the view tells is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from odradek.kafka.storage.aborted import AbortedTransaction, read_aborted
from odradek.kafka.storage.heads import NO_TIMESTAMP, Head, read_head, walk_heads
from odradek.kafka.storage.index import OFFSET_ENTRY, TIME_ENTRY, StoredIndex
from odradek.kafka.storage.names import OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.source import Source
from odradek.kafka.wire.batch import HEADER_BYTES

OFFSET_MAX = 2**63 - 1


class SegmentView(NamedTuple):
    """One segment; None stands for what its files say."""

    segment: Segment
    next_offset: int  # Where the next segment, or what is not written yet, begins.
    size_known: int | None = None
    offsets_known: StoredIndex | None = None
    times_known: StoredIndex | None = None

    @property
    def base_offset(self) -> int:
        return self.segment.base_offset

    @property
    def path(self) -> str:
        return self.segment.path

    @property
    def is_finished(self) -> bool:
        """Whether nothing will be appended to it."""
        return self.size_known is None

    def size(self, source: Source) -> int:
        return source.size(self.path) if self.size_known is None else self.size_known

    def offsets(self, source: Source) -> StoredIndex:
        path = self.segment.file(OFFSET_INDEX)
        return self.offsets_known or _stored(source, path, OFFSET_ENTRY)

    def times(self, source: Source) -> StoredIndex:
        path = self.segment.file(TIME_INDEX)
        return self.times_known or _stored(source, path, TIME_ENTRY)

    def aborted(self, source: Source) -> list[AbortedTransaction]:
        path = self.segment.file(TRANSACTION_INDEX)
        try:
            return read_aborted(source.read(path, 0, source.size(path)))
        except FileNotFoundError:
            return []  # It is there only if it has entries.

    def heads_from(self, source: Source, offset: int) -> Iterator[Head]:
        """The heads of all entries that end at or after an offset."""
        start = self._start(source, offset)
        for head in walk_heads(source, self.path, start, self.size(source)):
            if head.last_offset >= offset:
                yield head

    def end(self, source: Source) -> tuple[int, int]:
        """The offset behind the last whole entry, and the position there."""
        next_offset, position = self.base_offset, 0
        start = self._start(source, OFFSET_MAX)
        for head in walk_heads(source, self.path, start, self.size(source)):
            next_offset, position = head.last_offset + 1, head.end
        return next_offset, position

    def has_sane_indexes(self, source: Source) -> bool:
        """Whether the indexes can be those of this segment: whole entries, the last one inside.

        A time index that lacks the times would let retention take the segment for old.
        """
        offsets, times = self.offsets(source), self.times(source)
        if not (offsets.is_whole(source) and times.is_whole(source)):
            return False
        if last := offsets.last(source):
            relative, position = last
            if relative <= 0 or not 0 < position < self.size(source):
                return False
        first = next(walk_heads(source, self.path, 0, self.size(source)), None)
        largest, relative = times.last(source) or (NO_TIMESTAMP, 0)
        return relative >= 0 and largest >= (first.max_timestamp if first else NO_TIMESTAMP)

    def _start(self, source: Source, offset: int) -> int:
        """A position at or before the entry with this offset: the index's, if that is one."""
        entry = self.offsets(source).floor(source, offset - self.base_offset)
        if entry is None or not 0 < entry[1] < self.size(source):
            return 0
        head = read_head(source.read(self.path, entry[1], HEADER_BYTES), 0, entry[1])
        is_plausible = head is not None and head.base_offset <= self.base_offset + entry[0]
        return entry[1] if is_plausible else 0


def _stored(source: Source, path: str, form: Struct) -> StoredIndex:
    try:
        return StoredIndex(path, form, source.size(path) // form.size)
    except FileNotFoundError:
        return StoredIndex(path, form, 0)
