"""The transaction log, read: the entries of all files, in the order of their zxids."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple
from zlib import adler32

from odradek.runtime.disk import Disk, File
from odradek.zookeeper.storage.batch import FRAME_END, FRAME_START
from odradek.zookeeper.storage.errors import CorruptLog, StorageError
from odradek.zookeeper.storage.log_end import (
    CHUNK_BYTES,
    ENTRY_BYTES_MIN,
    FRAME_BYTES,
    check_end,
    is_blank,
    last_byte,
)
from odradek.zookeeper.storage.names import log_files, logs_from
from odradek.zookeeper.storage.txnlog import HEADER, MAGIC

_unpack_start = FRAME_START.unpack_from
_unpack_zxid = Struct(">12xq").unpack_from
_END_MARK = FRAME_END[0]


class LogEntry(NamedTuple):
    """A transaction as it was logged, the file that holds it, and where it ends there."""

    zxid: int
    data: bytes
    path: str
    end: int


def read_log(disk: Disk, directory: str, zxid: int) -> Iterator[LogEntry]:
    """All entries of the files that may hold this zxid or a later one.

    The first of them may be older. Raises `CorruptLog` where an entry is not what was written.
    """
    files = logs_from(log_files(disk, directory), zxid)
    for _, path in files:
        with disk.open(path, read_only=True) as file:
            yield from read_entries(file, is_newest=path == files[-1].path)


def read_entries(file: File, is_newest: bool) -> Iterator[LogEntry]:
    """The entries of one file."""
    if not has_header(file, is_newest):
        return
    path, size = file.path, file.size()
    position, wanted = len(HEADER), CHUNK_BYTES
    while wanted:
        chunk = file.pread(position, wanted)
        used = 0
        for zxid, data, used in sound_entries(chunk):
            yield LogEntry(zxid, data, path, position + used)
        position += used
        wanted = CHUNK_BYTES if used else larger_chunk(chunk, size - position)
    check_end(file, position, is_newest)


def sound_entries(chunk: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Zxid, bytes and end of each entry, up to the first that is not whole or not right."""
    position, limit = 0, len(chunk)
    while position + FRAME_BYTES < limit:
        checksum, size = _unpack_start(chunk, position)
        start = position + FRAME_START.size
        end = start + size
        if size < ENTRY_BYTES_MIN or end >= limit or chunk[end] != _END_MARK:
            return
        data = chunk[start:end]
        if adler32(data) != checksum:
            return
        position = end + 1
        yield _unpack_zxid(data)[0], data, position


def larger_chunk(chunk: bytes, available: int) -> int:
    """How much must be read for the first entry, if it is longer than the chunk; else 0."""
    if len(chunk) < CHUNK_BYTES:
        return 0
    _, size = _unpack_start(chunk)
    needed = FRAME_BYTES + size
    return needed if len(chunk) < needed <= available else 0


def has_header(file: File, is_newest: bool) -> bool:
    """Whether the file was begun. One that was not is what a crash leaves at the end of the log."""
    found = file.pread(0, len(HEADER))
    if len(found) == len(HEADER) and found.startswith(MAGIC):
        return True
    if is_newest and HEADER.startswith(found.rstrip(b"\0")):
        return False
    raise CorruptLog(file.path, 0, "this is not the start of a log")


def truncate_log(disk: Disk, directory: str, zxid: int) -> None:
    """Forget all entries after `zxid`, as a leader asks of one that logged what never committed."""
    last = None
    for entry in read_log(disk, directory, zxid):
        if entry.zxid > zxid:
            break
        last = entry
    if last is None:
        raise StorageError(directory, f"no log reaches back to zxid {zxid:#x}")
    # The newest file goes first: were it left without the one before it, the log had a gap.
    for file in reversed(log_files(disk, directory)):
        if file.path == last.path:
            break
        disk.remove(file.path)
        disk.sync_directory(directory)
    cut(disk, last.path, last.end)


def cut_tail(disk: Disk, directory: str, last: LogEntry | None) -> str | None:
    """Remove what a crash left behind the last entry, and keep the rest for good.

    Says what was done, if anything.
    """
    files = log_files(disk, directory)
    if not files:
        return None
    newest = files[-1].path
    if last is None or last.path != newest:
        disk.remove(newest)
        disk.sync_directory(directory)
        return f"removed {newest}, which holds no transaction"
    with disk.open(newest) as file:
        if is_blank(file.pread(last.end, FRAME_START.size)):
            # Who was killed may have written what it never synced; now it is ours to answer for.
            file.sync()
            disk.sync_directory(directory)
            return None
        tail_bytes = last_byte(file, last.end) - last.end
    cut(disk, newest, last.end)
    return f"cut {tail_bytes} bytes behind the last transaction of {newest}"


def cut(disk: Disk, path: str, size: int) -> None:
    with disk.open(path) as file:
        file.truncate(size)
        file.sync()
