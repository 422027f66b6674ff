"""The indexes of a segment: entries of one size, ascending, found by bisection.

offset index  last offset of a set of batches - base, position of that set
time index    largest timestamp so far, offset - base of the batch that has it

An index is a hint: one that is wrong costs time, never truth. Entries of the active segment wait
in memory until some have gathered. Its files are as long as they may ever grow (zeros that take
no room), and cut to what they hold when the segment is finished.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import suppress
from struct import Struct
from typing import NamedTuple

from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.source import Source
from odradek.runtime.disk import DiskFull

OFFSET_ENTRY = Struct(">ii")
TIME_ENTRY = Struct(">qi")
BLOCK_ENTRIES = 512
PENDING_BYTES_MAX = 2048

Entry = tuple[int, int]


class StoredIndex(NamedTuple):
    """The part of an index that its file holds."""

    path: str
    form: Struct
    entry_count: int

    def entry(self, source: Source, number: int) -> Entry:
        size = self.form.size
        first, second = self.form.unpack(source.read(self.path, number * size, size))
        return first, second

    def last(self, source: Source) -> Entry | None:
        return self.entry(source, self.entry_count - 1) if self.entry_count else None

    def is_whole(self, source: Source) -> bool:
        """Whether the file has so many entries and nothing else; a missing one has none."""
        try:
            return source.size(self.path) == self.entry_count * self.form.size
        except FileNotFoundError:
            return not self.entry_count

    def count_up_to(self, source: Source, limit: int, *, field: int = 0) -> int:
        """How many entries have at most this value in their first field, or in their second."""
        blocks = range(0, self.entry_count, BLOCK_ENTRIES)
        block = bisect_right(blocks, limit, key=lambda number: self.entry(source, number)[field])
        if not block:
            return 0
        start = blocks[block - 1]
        entries = self._entries(source, start, min(BLOCK_ENTRIES, self.entry_count - start))
        return start + bisect_right(entries, limit, key=lambda entry: entry[field])

    def floor(self, source: Source, limit: int) -> Entry | None:
        """The last entry whose first field is at most this."""
        count = self.count_up_to(source, limit)
        return self.entry(source, count - 1) if count else None

    def _entries(self, source: Source, start: int, count: int) -> list[Entry]:
        size = self.form.size
        data = source.read(self.path, start * size, count * size)
        return [(first, second) for first, second in self.form.iter_unpack(data)]


class GrowingIndex:
    """An index of the active segment, to which entries are added."""

    __slots__ = ("_files", "_pending", "count", "count_max", "form", "last", "path")

    def __init__(self, files: OpenFiles, path: str, form: Struct, bytes_max: int) -> None:
        """Begin an empty index. `resume` takes over what a file holds."""
        self.path = path
        self.form = form
        self.count = 0  # Those in memory included.
        self.count_max = bytes_max // form.size
        self.last: Entry | None = None
        self._files = files
        self._pending = bytearray()

    def start(self) -> None:
        """Have an empty file."""
        self._files.get(self.path, create=True).truncate(0)
        self._stretch()

    def resume(self, count: int, last: Entry | None) -> None:
        """Go on after so many entries of the file."""
        self.count, self.last = count, last
        self._stretch()

    @property
    def is_full(self) -> bool:
        return self.count >= self.count_max

    def append(self, first: int, second: int) -> None:
        """Add an entry. It never fails: the batch that it tells of is in the log already."""
        self._pending += self.form.pack(first, second)
        self.count += 1
        self.last = first, second
        if len(self._pending) >= PENDING_BYTES_MAX:
            self.stored()

    def stored(self) -> StoredIndex:
        """The entries that are in the file: all of them, if there was room."""
        with suppress(DiskFull):
            self._settle()
        pending_count = len(self._pending) // self.form.size
        return StoredIndex(self.path, self.form, self.count - pending_count)

    def trim(self) -> None:
        """Leave nothing in the file but the entries."""
        self._settle()
        self._files.get(self.path).truncate(self.count * self.form.size)

    def _settle(self) -> None:
        if self._pending:
            position = self.count * self.form.size - len(self._pending)
            self._files.get(self.path).write(position, self._pending)
            self._pending.clear()

    def _stretch(self) -> None:
        size = max(self.count_max, self.count) * self.form.size
        self._files.get(self.path, create=True).truncate(size)
