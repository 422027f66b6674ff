"""Where the entries of a log end: what a crash leaves, told from what a bad disk leaves.

Behind the last synced entry a log is zeros, and a crash lets any of the sectors written since stay
zeros: the end of an entry, its start, or its middle, with whole entries behind it. None of that
was promised, so the log ends there. Bytes that are wrong without a missing sector were written
right and have changed since: they, and what follows them, may have been promised, so we do not
guess.

A log that others follow was synced, or ended by a server that had recovered from it. Reading then
goes on as the original does: an entry that is not whole ends the file; a whole one whose checksum
is wrong is refused.
"""

from __future__ import annotations

from zlib import adler32

from odradek.runtime.disk import File
from odradek.zookeeper.storage.batch import FRAME_END, FRAME_START
from odradek.zookeeper.storage.errors import CorruptLog

SECTOR_BYTES = 512
FRAME_BYTES = FRAME_START.size + len(FRAME_END)
ENTRY_BYTES_MIN = 32  # The header of a transaction.
CHECKSUM_ZEROS = 4  # Bytes that start each frame, and whose loss is none.
CHUNK_BYTES = 1 << 20


def check_end(file: File, position: int, is_newest: bool) -> None:
    """Raise `CorruptLog` unless the entries of this file may end at `position`."""
    start = file.pread(position, FRAME_START.size)
    if is_blank(start) or len(start) < FRAME_START.size:
        return
    checksum, size = FRAME_START.unpack(start)
    data = file.pread(position, last_byte(file, position) - position)
    # A length that makes no sense claims no more than the frame around nothing.
    claimed = FRAME_BYTES + (size if size >= ENTRY_BYTES_MIN else 0)
    if len(data) >= claimed and data[claimed - 1 : claimed] == FRAME_END and not is_newest:
        raise CorruptLog(file.path, position, "a wrong checksum, and later logs follow")
    if not has_lost_sector(data, position, claimed):
        raise CorruptLog(file.path, position, "an entry with wrong bytes, which no crash explains")
    if is_whole_elsewhere(data, checksum):
        raise CorruptLog(file.path, position, "an entry with a wrong length")


def is_blank(data: bytes) -> bool:
    return data.count(0) == len(data)


def last_byte(file: File, position: int) -> int:
    """The end of the last byte behind `position` that is not zero."""
    end = file.size()
    while end > position:
        start = max(position, end - CHUNK_BYTES)
        found = len(file.pread(start, end - start).rstrip(b"\0"))
        if found:
            return start + found
        end = start
    return position


def has_lost_sector(data: bytes, position: int, claimed: int) -> bool:
    """Whether zeros stand for a part of the frame, up to the end of a sector or of all data."""
    if len(data) < claimed:
        return True
    start, end = 0, SECTOR_BYTES - position % SECTOR_BYTES
    while start < claimed:
        if end > CHECKSUM_ZEROS and is_blank(data[start:end]):
            return True
        start, end = end, end + SECTOR_BYTES
    return False


def is_whole_elsewhere(data: bytes, checksum: int) -> bool:
    """Whether the entry would be whole if it had another length."""
    view = memoryview(data)
    running, start = 1, FRAME_START.size
    end = data.find(FRAME_END, start + ENTRY_BYTES_MIN)
    while end >= 0:
        running = adler32(view[start:end], running)
        if running == checksum:
            return True
        start, end = end, data.find(FRAME_END, end + 1)
    return False
