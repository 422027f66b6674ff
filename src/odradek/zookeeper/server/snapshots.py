"""When snapshots are taken, and how: in slices, between the requests.

A slice is made on the loop and written off it, or copied there from the last snapshot if nothing
has changed in it. The server answers between two slices, and the tree goes on changing under the
snapshot: see `storage.snapshot_slices` for why that is sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from random import Random
from typing import Protocol

from odradek.runtime.disk import Disk, DiskError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.server.distribution import Distribution
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.names import snapshot_name
from odradek.zookeeper.storage.snapshot_file import NotAsWritten, SnapshotFile
from odradek.zookeeper.storage.snapshot_renewal import Piece, Renewal
from odradek.zookeeper.storage.snapshot_slices import SnapshotFormat

WRITTEN_BYTES = 1024 * 1024  # As much is handed to a thread at once.
Source = tuple[Tree, Mapping[int, int]]  # What is snapshot: the time-outs are those of sessions.
Finish = Callable[[], DiskError | None]


async def in_any_thread(work: Finish) -> DiskError | None:
    return await asyncio.get_running_loop().run_in_executor(None, work)


class Rolling(Protocol):
    """A log that counts what it is given, and begins a new file when told."""

    async def until_proposed(self, count: int) -> None: ...

    def roll(self) -> None: ...


class Snapshots:
    """Takes a snapshot after so many transactions; how many is drawn anew each time."""

    def __init__(
        self,
        disk: Disk,
        directory: str,
        count: int,
        parts: SnapshotFormat,
        compression: str,
        random: Random,
        note: NodeLog,
        source: Callable[[], Source],
    ) -> None:
        self.taken_count = 0
        self.taken_ms = Distribution()
        self.failed_count = 0
        self.last_zxid = 0
        # Where the tree may be ahead of the log, a snapshot is finished in turn with it.
        self.in_turn: Callable[[Finish], Awaitable[DiskError | None]] = in_any_thread
        self._one_at_a_time = asyncio.Lock()
        self._disk = disk
        self._directory = directory
        self._count = count
        self._parts = parts
        self._compression = compression
        self._random = random
        self._note = note
        self._source = source

    async def run(self, log: Rolling) -> None:
        """Take snapshots as long as the server lives."""
        while True:
            # Servers of an ensemble must not all take theirs at once.
            half = max(1, self._count // 2)
            await log.until_proposed(half + self._random.randrange(half))
            log.roll()
            await self.take()

    async def take(self) -> str | None:
        """Write one snapshot and return its path.

        If it cannot be written there is none, and the log still has everything.
        """
        async with self._one_at_a_time:
            return await self._take(*self._source())

    async def _take(self, tree: Tree, timeouts: Mapping[int, int]) -> str | None:
        started_s = asyncio.get_running_loop().time()
        zxid = tree.last_zxid
        try:
            path = await self._write(zxid, tree, timeouts)
        except NotAsWritten as error:
            self._note.error("nothing is taken over from an earlier snapshot: %s", error)
            tree.sheets.forget_kept()
            return await self._take(tree, timeouts)
        except DiskError as error:
            self._note.error("no snapshot at %#x: %s", zxid, error)
            self.failed_count += 1
            return None
        self.taken_count += 1
        self.taken_ms.observe(int((asyncio.get_running_loop().time() - started_s) * 1000))
        self.last_zxid = zxid
        self._note.info("snapshot at %#x written", zxid)
        return path

    async def _write(self, zxid: int, tree: Tree, timeouts: Mapping[int, int]) -> str:
        in_thread = asyncio.get_running_loop().run_in_executor
        path = f"{self._directory}/{snapshot_name(zxid, self._compression)}"
        renewal = Renewal(tree, timeouts, self._parts, path)
        file = await in_thread(
            None, SnapshotFile, self._disk, self._directory, zxid, self._compression
        )
        try:
            await self._fill(file, renewal.pieces())
            if failure := await self.in_turn(lambda: self._finish(file, tree)):
                raise failure
        except BaseException:
            file.abandon()
            raise
        if not self._compression:  # There is no place in a stream to copy from.
            renewal.finished()
        return file.path

    async def _fill(self, file: SnapshotFile, pieces: Iterator[Piece]) -> None:
        """Write the pieces; slices together, for each way to a thread and back costs its time."""
        in_thread = asyncio.get_running_loop().run_in_executor
        slices: list[bytes] = []
        size = 0
        for piece in pieces:
            if isinstance(piece, bytes):
                slices.append(piece)
                size += len(piece)
                await asyncio.sleep(0)  # Others want to be served too.
                if size < WRITTEN_BYTES:
                    continue
            if slices:
                await in_thread(None, file.write, b"".join(slices))
                slices, size = [], 0
            if not isinstance(piece, bytes):
                await in_thread(None, file.copy, piece)
        if slices:
            await in_thread(None, file.write, b"".join(slices))

    def _finish(self, file: SnapshotFile, tree: Tree) -> DiskError | None:
        """Make it a snapshot, unless the server has gone back behind it; return what failed."""
        if self._source()[0] is not tree:
            return DiskError(file.path, "it is of a history that was given up")
        try:
            file.finish()
        except DiskError as error:
            return error
        return None
