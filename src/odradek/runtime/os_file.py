"""A real file: whole writes, honest syncs.

A write happens whole or raises; what a failed one left behind the end is cut off, so that
nothing is ever appended behind garbage. A failed sync is remembered: the kernel drops the pages
that it could not write, so the next fsync would succeed and lie.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from typing import NoReturn

from odradek.runtime.disk import Buffer, DiskBroken, DiskError, File, WrittenAside, outcome_of
from odradek.runtime.os_errors import disk_errors, raise_disk_error

IOV_MAX = os.sysconf("SC_IOV_MAX")
NOWAIT: int | None = getattr(os, "RWF_NOWAIT", None)
DURABLY: int | None = getattr(os, "RWF_DSYNC", None)
FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
UNSUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})


class OsFile(File):
    """An open file of the operating system.

    The kernel is asked for the size each time, so several handles may share a file; only one of
    them may append.
    """

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._can_tell_cached = NOWAIT is not None
        self._sync_failure: OSError | None = None

    def size(self) -> int:
        # A third of the price of fstat. All reads and writes name their position, so the offset
        # that this moves is nobody's.
        return os.lseek(self._descriptor, 0, os.SEEK_END)

    def pread(self, position: int, count: int) -> bytes:
        try:
            data = os.pread(self._descriptor, count, position)
            if len(data) < count:
                data += self._read_rest(position + len(data), count - len(data))
        except OSError as error:
            raise_disk_error(self.path, error)
        return data

    def pread_into(self, position: int, room: memoryview) -> int:
        filled = 0
        with disk_errors(self.path):
            while filled < len(room):
                count = os.preadv(self._descriptor, [room[filled:]], position + filled)
                if not count:
                    break
                filled += count
        return filled

    def pread_cached(self, position: int, count: int) -> bytes | None:
        """None also where the kernel cannot tell, for the promise is not to wait."""
        if not self._can_tell_cached:
            return None
        wanted = min(count, self.size() - position)
        if wanted <= 0:
            return b""
        # BytesIO hands out its own bytes while nobody else holds them: this reads without a copy.
        holder = BytesIO(bytes(wanted))
        with holder.getbuffer() as room:
            got = self._read_nowait(position, room)
        return holder.getvalue() if got == wanted else None

    def pread_cached_into(self, position: int, room: memoryview) -> int | None:
        if not self._can_tell_cached:
            return None
        wanted = min(len(room), self.size() - position)
        if wanted <= 0:
            return 0
        return wanted if self._read_nowait(position, room[:wanted]) == wanted else None

    def write(self, position: int, data: Buffer) -> None:
        self._write_whole(self.size(), position, (data,))

    def write_durably(self, position: int, data: Buffer) -> None:
        """One system call: a thread that does this asks for the interpreter once, not twice."""
        if DURABLY is None or self._sync_failure is not None:
            super().write_durably(position, data)
            return
        end = self.size()
        try:
            written = os.pwritev(self._descriptor, (data,), position, DURABLY)
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                self._fail(end, error)
            self._cut_back(end)
            super().write_durably(position, data)
            return
        if written < len(data):
            self._write_rest(end, position + written, memoryview(data)[written:])

    def write_aside(self, position: int, data: bytes, done: WrittenAside) -> bool:
        from odradek.runtime.os_ring import ring_of_loop  # Not before it is needed: it takes time.

        ring = ring_of_loop()
        if ring is None or self._sync_failure is not None:
            return False
        written = partial(self._written_aside, self.size(), position, data, done)
        return ring.write(self._descriptor, position, data, written)

    def _written_aside(
        self, end: int, position: int, data: bytes, done: WrittenAside, result: int
    ) -> None:
        """The kernel says how much it has written; what it has left, and its errors, are ours."""
        if result == len(data):
            done(None)
        elif result < 0 and -result not in UNSUPPORTED:
            done(outcome_of(partial(self._fail, end, OSError(-result, os.strerror(-result)))))
        else:
            written = max(result, 0)
            rest = memoryview(data)[written:]
            done(outcome_of(partial(self._write_rest, end, position + written, rest)))

    def _write_rest(self, end: int, position: int, data: memoryview) -> None:
        """What the kernel has left of a durable write; if that fails, all of it is taken back."""
        try:
            super().write_durably(position, data)
        except DiskError:
            self._cut_back(end)
            raise

    def _fail(self, end: int, error: OSError) -> NoReturn:
        """A durable write went wrong."""
        self._cut_back(end)
        if error.errno == errno.EIO:
            self._sync_failure = error
        raise_disk_error(self.path, error)

    def append(self, *buffers: Buffer) -> int:
        end = self.size()
        self._write_whole(end, end, buffers)
        return end

    def extend(self, end: int, *buffers: Buffer) -> None:
        """One call of the system where `append` takes two."""
        try:
            written = os.pwritev(self._descriptor, buffers[:IOV_MAX], end)
        except OSError as error:
            self._cut_back(end)
            raise_disk_error(self.path, error)
        if written < sum(map(len, buffers)):
            self._write_whole(end, end + written, behind(written, buffers))

    def truncate(self, size: int) -> None:
        with disk_errors(self.path):
            os.ftruncate(self._descriptor, size)

    def preallocate(self, size: int) -> None:
        """Where the file system cannot reserve room, only the zeros are promised."""
        end = self.size()
        if size <= end:
            return
        with disk_errors(self.path):
            try:
                reserve(self._descriptor, end, size - end)
            except OSError as error:
                self._cut_back(end)
                if error.errno not in UNSUPPORTED:
                    raise
                os.ftruncate(self._descriptor, size)

    def sync(self) -> None:
        """Any failure is `DiskBroken`, even a lack of room: what was written may be gone."""
        if self._sync_failure is None:
            try:
                return flush_to_device(self._descriptor)
            except OSError as error:
                self._sync_failure = error
        raise DiskBroken(self.path, f"sync failed: {self._sync_failure}") from self._sync_failure

    def close(self) -> None:
        if self._descriptor >= 0:
            # Forgotten first: once closed, its number may be another file's.
            descriptor, self._descriptor = self._descriptor, -1
            with disk_errors(self.path):
                os.close(descriptor)

    def _read_rest(self, position: int, count: int) -> bytes:
        """The kernel may read less than asked; only an empty read is the end of the file."""
        pieces = []
        while count and (piece := os.pread(self._descriptor, count, position)):
            pieces.append(piece)
            position += len(piece)
            count -= len(piece)
        return b"".join(pieces)

    def _read_nowait(self, position: int, room: memoryview) -> int:
        """How many bytes memory holds, or happens to tell of."""
        assert NOWAIT is not None
        try:
            return os.preadv(self._descriptor, (room,), position, NOWAIT)
        except BlockingIOError:
            return 0
        except OSError as error:
            if error.errno not in UNSUPPORTED:
                raise_disk_error(self.path, error)
        self._can_tell_cached = False
        return 0

    def _write_whole(self, end: int, position: int, buffers: Sequence[Buffer]) -> None:
        try:
            write_all(self._descriptor, position, buffers)
        except OSError as error:
            self._cut_back(end)
            raise_disk_error(self.path, error)

    def _cut_back(self, end: int) -> None:
        with disk_errors(self.path):
            if self.size() > end:
                os.ftruncate(self._descriptor, end)


def write_all(descriptor: int, position: int, buffers: Sequence[Buffer]) -> None:
    """Write every byte, however few the kernel takes at once."""
    wanted = sum(map(len, buffers))
    written = os.pwritev(descriptor, buffers[:IOV_MAX], position)
    while written < wanted:
        rest = behind(written, buffers)
        taken = os.pwritev(descriptor, rest[:IOV_MAX], position + written)
        if not taken:
            raise OSError(errno.EIO, "the device takes no bytes")
        written += taken


def behind(count: int, buffers: Sequence[Buffer]) -> list[memoryview]:
    """What is left of the buffers behind their first `count` bytes, without empty ones."""
    rest = []
    for buffer in buffers:
        if count < len(buffer):
            rest.append(memoryview(buffer)[count:])
        count = max(0, count - len(buffer))
    return rest


def reserve(descriptor: int, position: int, count: int) -> None:
    """Make room on the device for zeros in that range, or say that it cannot be done."""
    if not hasattr(os, "posix_fallocate"):
        raise OSError(errno.EOPNOTSUPP, "no posix_fallocate here")
    os.posix_fallocate(descriptor, position, count)


def flush_to_device(descriptor: int) -> None:
    """Return once the bytes would survive a power cut; macOS has a call of its own for that."""
    if FULL_SYNC is not None:
        fcntl.fcntl(descriptor, FULL_SYNC)
    else:
        os.fdatasync(descriptor)
