"""When snapshots are taken, and how: in slices, between the requests.

A slice is made on the loop and written off it. The server answers between two slices, and the
tree goes on changing under the snapshot: see `storage.snapshot_slices` for why that is sound.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from random import Random

from odradek.runtime.disk import Disk, DiskError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.server.distribution import Distribution
from odradek.zookeeper.server.pipeline import Pipeline
from odradek.zookeeper.state.sessions import Sessions
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.snapshot_file import SnapshotFile
from odradek.zookeeper.storage.snapshot_slices import SnapshotFormat, snapshot_slices


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
    ) -> None:
        self.taken_count = 0
        self.taken_ms = Distribution()
        self.failed_count = 0
        self.last_zxid = 0
        self._one_at_a_time = asyncio.Lock()
        self._disk = disk
        self._directory = directory
        self._count = count
        self._parts = parts
        self._compression = compression
        self._random = random
        self._note = note

    async def run(self, pipeline: Pipeline, tree: Tree, sessions: Sessions) -> None:
        """Take snapshots as long as the server lives."""
        while True:
            # Servers of an ensemble must not all take theirs at once.
            half = max(1, self._count // 2)
            await pipeline.until_proposed(half + self._random.randrange(half))
            pipeline.roll()
            await self.take(tree, sessions)

    async def take(self, tree: Tree, sessions: Sessions) -> str | None:
        """Write one snapshot and return its path.

        If it cannot be written there is none, and the log still has everything.
        """
        async with self._one_at_a_time:
            return await self._take(tree, sessions)

    async def _take(self, tree: Tree, sessions: Sessions) -> str | None:
        started_s = asyncio.get_running_loop().time()
        zxid = tree.last_zxid
        timeouts = {each.session_id: each.timeout_ms for each in sessions.by_id.values()}
        slices = snapshot_slices(tree, timeouts, self._parts)
        try:
            path = await self._write(zxid, slices)
        except DiskError as error:
            self._note.error("no snapshot at %#x: %s", zxid, error)
            self.failed_count += 1
            return None
        self.taken_count += 1
        self.taken_ms.observe(int((asyncio.get_running_loop().time() - started_s) * 1000))
        self.last_zxid = zxid
        self._note.info("snapshot at %#x written", zxid)
        return path

    async def _write(self, zxid: int, slices: Iterator[bytes]) -> str:
        in_thread = asyncio.get_running_loop().run_in_executor
        file = await in_thread(
            None, SnapshotFile, self._disk, self._directory, zxid, self._compression
        )
        try:
            for chunk in slices:
                await in_thread(None, file.write, chunk)
            await in_thread(None, file.finish)
        except BaseException:
            file.abandon()
            raise
        return file.path
