"""A cleaned segment while it is written: its files are called `.cleaned` until they are whole.

They are synced before anybody hears of them. From then on a new name is all that it takes, and
recovery drops whatever has not got it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.heads import read_head
from odradek.kafka.storage.names import (
    CLEANED,
    LOG,
    OFFSET_INDEX,
    TIME_INDEX,
    TRANSACTION_INDEX,
)
from odradek.kafka.storage.rebuild import Rebuilt
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.tail import RELATIVE_OFFSET_MAX
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.runtime.disk import Buffer, Disk

PIECE_BYTES = 1 << 20


class CleanedFiles:
    """The files of one segment, under their temporary names."""

    def __init__(self, disk: Disk, segment: Segment, interval_bytes: int) -> None:
        self._disk = disk
        self._segment = segment
        self._interval_bytes = interval_bytes
        self._index = Rebuilt(segment.base_offset, segment.base_offset)
        self._pending = bytearray()
        self._file = disk.open(segment.file(LOG) + CLEANED, create=True)
        self._file.truncate(0)

    @property
    def size(self) -> int:
        return self._index.size

    def append(self, data: Buffer) -> None:
        """One more entry."""
        head = read_head(data, 0, self._index.size)
        assert head is not None and head.size == len(data)
        if head.last_offset - self._segment.base_offset > RELATIVE_OFFSET_MAX:
            raise InvalidRecord(f"offset {head.last_offset} is too far from its segment's")
        self._index.add(head, self._interval_bytes)
        self._pending += data
        if len(self._pending) >= PIECE_BYTES:
            self._settle()

    def finish(self, aborted: Iterable[AbortedTransaction], modified_ms: int) -> None:
        """Have everything safe; only the names are not."""
        self._settle()
        self._file.sync()
        self._file.close()
        self._index.add_time()
        for entry in aborted:
            self._index.add_aborted(entry)
        self._put(OFFSET_INDEX, self._index.offsets)
        self._put(TIME_INDEX, self._index.times)
        if self._index.aborted:
            self._put(TRANSACTION_INDEX, self._index.aborted)
        self._disk.set_modified_ms(self._segment.file(LOG) + CLEANED, modified_ms)

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        for kind in (LOG, OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX):
            with suppress(FileNotFoundError):
                self._disk.remove(self._segment.file(kind) + CLEANED)

    def _settle(self) -> None:
        if self._pending:
            self._file.append(self._pending)
            self._pending = bytearray()

    def _put(self, kind: str, data: bytearray) -> None:
        with self._disk.open(self._segment.file(kind) + CLEANED, create=True) as file:
            file.truncate(0)
            file.append(data)
            file.sync()


def remove_cleaned(disk: Disk, directory: str) -> None:
    """Remove what an earlier cleaning has left.

    Recovery takes a `.cleaned` file for the sign that swap files behind it are not whole: a
    forgotten one would let it drop those of another cleaning.
    """
    for name in disk.list_directory(directory):
        if name.endswith(CLEANED):
            disk.remove(f"{directory}/{name}")
