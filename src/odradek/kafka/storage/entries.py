"""Whole entries of a log, read in large pieces, for those who must see them all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from odradek.kafka.storage.heads import Head, read_head
from odradek.kafka.storage.source import Source
from odradek.kafka.wire.batch import MAGIC_POSITION, Batch
from odradek.kafka.wire.message_set import read_message

PIECE_BYTES = 1 << 20


class Entry(NamedTuple):
    """One entry: its head, and all its bytes."""

    head: Head
    data: memoryview

    def batch(self) -> Batch | None:
        """The batch; None if it is a message of the old formats."""
        return Batch(self.data) if self.head.magic == 2 else None


def check_entry(data: memoryview) -> Batch | Head:
    """A batch, or the head of an older message, both of which say what they cover.

    `CorruptBatch` or `InvalidRecord` if these are not the bytes once written.
    """
    if data[MAGIC_POSITION] == 2:
        batch = Batch(data)
        batch.check_crc()
        return batch
    read_message(data)
    head = read_head(data, 0, 0)
    assert head is not None, "a message that is whole has a head"
    return head


def read_entries(
    source: Source, path: str, position: int, end: int, piece_bytes: int = PIECE_BYTES
) -> Iterator[Entry]:
    """All whole entries from `position` on; it ends at the first thing that is none."""
    piece, start = memoryview(b""), position
    while position < end:
        head = read_head(piece, position - start, position)
        if head is None or head.end > start + len(piece):
            wanted = max(piece_bytes, head.size if head else 0)
            piece = memoryview(source.read(path, position, min(wanted, end - position)))
            start = position
            head = read_head(piece, 0, position)
            if head is not None and len(piece) < head.size <= end - position:
                piece = memoryview(source.read(path, position, head.size))
        if head is None or head.end > start + len(piece):
            return
        yield Entry(head, piece[position - start : head.end - start])
        position = head.end


def cut(data: memoryview) -> Iterator[Entry]:
    """The whole entries of a record set that came over the wire."""
    position, size = 0, len(data)
    while position < size and (head := read_head(data, position, position)):
        end = head.end
        if end > size:
            return
        yield Entry(head, data[position:end])
        position = end
