"""An open file of a simulated process. It is as dead as that process is."""

from __future__ import annotations

import asyncio
import errno
from functools import partial
from typing import TYPE_CHECKING

from odradek.runtime.disk import Buffer, File, WrittenAside, outcome_of
from odradek.simulation.disk.inodes import Inode
from odradek.simulation.disk.tree import os_error

if TYPE_CHECKING:
    from odradek.simulation.disk.disk import SimulatedDisk


class SimulatedFile(File):
    """A way to one file's bytes."""

    def __init__(self, disk: SimulatedDisk, path: str, inode: Inode, read_only: bool) -> None:
        self.path = path
        self._disk = disk
        self._inode = inode
        self._is_read_only = read_only
        self._is_closed = False

    def size(self) -> int:
        self._check()
        return self._inode.size

    def pread(self, position: int, count: int) -> bytes:
        self._check()
        self._disk.storage.device.check("read", self.path)
        if not self._inode.is_cached:
            self._disk.spend("read")
            self._inode.is_cached = True
        return self._inode.read(position, count)

    def pread_cached(self, position: int, count: int) -> bytes | None:
        self._check()
        if not self._disk.storage.is_cached(self._inode):
            return None
        return self._inode.read(position, count)

    def write(self, position: int, data: Buffer) -> None:
        self._check(to_write=True)
        self._disk.storage.write(self.path, self._inode, position, bytes(data))

    def write_aside(self, position: int, data: bytes, done: WrittenAside) -> bool:
        """By a thread: the kernel of a simulated host has no workers of its own."""

        def tell(written: asyncio.Future[Exception | None]) -> None:
            if not written.cancelled():
                done(written.result())

        write = partial(self.write_durably, position, data)
        asyncio.get_running_loop().run_in_executor(None, outcome_of, write).add_done_callback(tell)
        return True

    def append(self, *buffers: Buffer) -> int:
        self._check(to_write=True)
        position = self._inode.size
        self._disk.storage.write(self.path, self._inode, position, b"".join(buffers))
        return position

    def truncate(self, size: int) -> None:
        self._check(to_write=True)
        self._disk.storage.resize(self.path, self._inode, size)

    def preallocate(self, size: int) -> None:
        self._check(to_write=True)
        if size > self._inode.size:
            self._disk.storage.resize(self.path, self._inode, size)

    def sync(self) -> None:
        self._check()
        self._disk.spend("sync")
        self._disk.storage.sync(self.path, self._inode)

    def close(self) -> None:
        """May be called twice, and by the dead."""
        self._is_closed = True

    def _check(self, to_write: bool = False) -> None:
        self._disk.check_alive()
        if self._is_closed or (to_write and self._is_read_only):
            raise os_error(errno.EBADF, self.path)
