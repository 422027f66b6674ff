"""The heads of batches, walked without their records.

Every entry of a log, of any magic, has an offset, a length and, at byte 16, its magic. The head
of a batch says its last offset and largest timestamp; an older message is its own last offset,
and wrapped ones have their last's. A walk ends at the first thing that is no head: whoever must
know why it ended looks at where.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from odradek.kafka.storage.source import Source
from odradek.kafka.wire.batch import (
    ENTRY_START_BYTES,
    HEADER_BYTES,
    LEGACY_OVERHEAD_BYTES,
    LENGTH_BYTES_MIN,
    MAGIC_POSITION,
)
from odradek.kafka.wire.octets import Octets

HEAD = Struct(">qiib")  # Offset, length, leader epoch (or checksum), magic.
SPAN = Struct(">iqq")  # Last offset delta, base and largest timestamp, at their place.
SPAN_POSITION = 23
LEGACY_TIMESTAMP = Struct(">q")
LEGACY_TIMESTAMP_POSITION = 18
NO_TIMESTAMP = -1
WINDOW_BYTES = 4096


class Head(NamedTuple):
    """Where an entry lies, and which offsets and times it covers."""

    position: int
    size: int
    base_offset: int  # Of a message before magic 2: its offset, which is that of its last.
    last_offset: int
    max_timestamp: int
    leader_epoch: int
    magic: int

    @property
    def end(self) -> int:
        return self.position + self.size


def read_head(data: Octets, start: int, position: int) -> Head | None:
    """The head at `start` of the data, which lies at `position` of a file; None if it is none."""
    if len(data) - start < HEAD.size:
        return None
    offset, length, leader_epoch, magic = HEAD.unpack_from(data, start)
    size = ENTRY_START_BYTES + length
    if magic == 2:
        if length < LENGTH_BYTES_MIN or len(data) - start < HEADER_BYTES:
            return None
        delta, _, max_timestamp = SPAN.unpack_from(data, start + SPAN_POSITION)
        return Head(position, size, offset, offset + delta, max_timestamp, leader_epoch, magic)
    if not 0 <= magic < 2 or length < LEGACY_OVERHEAD_BYTES:
        return None
    timestamp = NO_TIMESTAMP
    if magic == 1:
        if len(data) - start < LEGACY_TIMESTAMP_POSITION + LEGACY_TIMESTAMP.size:
            return None
        (timestamp,) = LEGACY_TIMESTAMP.unpack_from(data, start + LEGACY_TIMESTAMP_POSITION)
    return Head(position, size, offset, offset, timestamp, -1, magic)


def walk_heads(source: Source, path: str, position: int, end: int) -> Iterator[Head]:
    """The heads of all whole entries from `position` on, up to `end`; few bytes are read."""
    window, start = b"", position
    while position < end:
        head = read_head(window, position - start, position)
        if head is None:
            window, start = source.read(path, position, min(WINDOW_BYTES, end - position)), position
            head = read_head(window, 0, position)
        if head is None or head.end > end:
            return
        yield head
        position = head.end


def whole_end(data: Octets, position: int, upper_offset: int) -> tuple[int, int | None]:
    """How many bytes of the data are whole entries that begin below an offset, and the last offset.

    This is done for every fetch, so it looks at as little as it can.
    """
    start, end, last_start, unpack = 0, len(data), -1, HEAD.unpack_from
    while end - start > MAGIC_POSITION:
        offset, length, _, _ = unpack(data, start)
        after = start + ENTRY_START_BYTES + length
        if after > end or offset >= upper_offset or length < LEGACY_OVERHEAD_BYTES:
            break
        last_start, start = start, after
    if last_start < 0:
        return 0, None
    last = read_head(data, last_start, position + last_start)
    return start, last.last_offset if last else None
