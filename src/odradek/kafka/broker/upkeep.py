"""Upkeep: what is done to logs while nobody asks.

Old segments go, checkpoints are written, what lies unflushed for too long is flushed, silent
producers are forgotten. The loop is left to others after every few logs, and whatever waits for
the device runs in another thread. A directory whose disk fails goes offline; a full disk is told
and tried again the next time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager

from odradek.kafka.settings import BrokerSettings
from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.checkpoints import Checkpoint
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import CHECKPOINTS, LogDirectory
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.removal import remove_directory, remove_files
from odradek.kafka.storage.retention import retire_old_segments
from odradek.runtime.disk import DiskFull
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks

SLICE = 64  # Logs a turn.
LONGEST_S = 10 * 365 * 24 * 3600.0  # "Never", for a timer.

Fail = Callable[[LogDirectory, Exception], None]


class Upkeep:
    """Keeps the logs of one broker."""

    def __init__(
        self,
        directories: LogDirectories,
        settings: Callable[[], BrokerSettings],
        fail: Fail,
        clock: Callable[[], int],
        note: NodeLog,
    ) -> None:
        self._directories = directories
        self._settings = settings
        self._fail = fail
        self._clock = clock
        self._note = note
        self._written: dict[str, object] = {}  # What each checkpoint said last.
        self._turns: dict[str, asyncio.Lock] = {}
        self.is_being_cleaned: Callable[[Log], bool] = lambda log: False  # Of `cleaning`.

    def start(self, tasks: Tasks) -> None:
        """Begin all that goes on as long as the broker runs."""
        given = self._settings()
        first_ms = given.log_initial_task_delay_ms
        watermarks_ms = given.replica_high_watermark_checkpoint_interval_ms
        points_ms = given.log_flush_offset_checkpoint_interval_ms
        starts_ms = given.log_flush_start_offset_checkpoint_interval_ms
        producers_ms = given.producer_id_expiration_check_interval_ms
        for name, work, delay_ms, interval_ms in (
            ("retention", self.retain, first_ms, given.log_retention_check_interval_ms),
            ("flush", self.flush, first_ms, given.log_flush_scheduler_interval_ms),
            ("recovery points", self.write_recovery_points, first_ms, points_ms),
            ("start offsets", self.write_start_offsets, first_ms, starts_ms),
            ("high watermarks", self.write_high_watermarks, watermarks_ms, watermarks_ms),
            ("producers", self.expire_producers, producers_ms, producers_ms),
        ):
            tasks.start(name, self._repeat(work, delay_ms, interval_ms))
        self._remove_doomed()

    async def _repeat(
        self, work: Callable[[], Awaitable[None]], first_ms: int, interval_ms: int
    ) -> None:
        await asyncio.sleep(min(first_ms / 1000, LONGEST_S))
        while True:
            await work()
            await asyncio.sleep(min(interval_ms / 1000, LONGEST_S))

    # Retention

    async def retain(self) -> None:
        """Let go of the segments that no topic wants any more."""
        async for directory, log in self._logs():
            if self.is_being_cleaned(log):
                continue  # What a cleaning has begun with must be there when it ends.
            with self.watched(directory):
                for retired in retire_old_segments(log, self._clock()):
                    count = sum(path.endswith(".log.deleted") for path in retired.paths)
                    self._note.info("%s: %s segments go: %s", log.where, count, retired.reason)
                    self.remove_files_later(retired.paths, log.settings.file_delete_delay_ms)

    def remove_files_later(self, paths: list[str], delay_ms: int) -> None:
        """Readers may be at them still; if we stop before, the next start removes them."""
        disk = self._directories.files.disk
        self._later(delay_ms, lambda: remove_files(disk, paths))

    def remove_directory_later(self, path: str, delay_ms: int) -> None:
        disk = self._directories.files.disk
        self._later(delay_ms, lambda: remove_directory(disk, path))

    def _remove_doomed(self) -> None:
        """Those that were to be removed when the broker last stopped."""
        delay_ms = self._settings().log_segment_delete_delay_ms
        for directory in self._directories.online:
            for path in directory.doomed:
                self.remove_directory_later(path, delay_ms)
            directory.doomed.clear()

    def _later(self, delay_ms: int, remove: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()

        def removed(done: asyncio.Future[None]) -> None:
            if not done.cancelled() and (error := done.exception()):
                self._note.warning("what is not needed any more stays: %s", error)

        def begin() -> None:
            loop.run_in_executor(None, remove).add_done_callback(removed)

        loop.call_later(min(delay_ms / 1000, LONGEST_S), begin)

    # Flushing

    async def flush(self) -> None:
        """Flush what flush.ms asks for."""
        async for directory, log in self._logs():
            if log.is_flush_due(self._clock()):
                await self._flush_one(directory, log)

    async def _flush_one(self, directory: LogDirectory, log: Log) -> None:
        in_thread = asyncio.get_running_loop().run_in_executor
        with self.watched(directory):
            flush = log.begin_flush()
            await in_thread(None, flush.run)
            log.end_flush(flush, self._clock())

    # Checkpoints

    async def write_recovery_points(self) -> None:
        """Flush the logs that have rolled since: what is finished need not be read again."""
        async for directory, log in self._logs():
            if log.recovery_point < log.segments[-1].base_offset:
                await self._flush_one(directory, log)
        await self._write(checkpoints.RECOVERY_POINTS)

    async def write_start_offsets(self) -> None:
        await self._write(checkpoints.START_OFFSETS)

    async def write_high_watermarks(self) -> None:
        await self._write(checkpoints.HIGH_WATERMARKS)

    async def _write(self, name: str) -> None:
        """Write one checkpoint of every directory, where it would say something new."""
        for directory in list(self._directories.online):
            async with self.turn_of(directory):
                checkpoint = directory.checkpoint(name)
                if self._written.get(checkpoint.path) != checkpoint.offsets:
                    await self._write_one(directory, checkpoint)

    async def forget(self, directory: LogDirectory) -> None:
        """Have nothing written down of logs that are not there any more."""
        async with self.turn_of(directory):
            await self.write_down(directory, *CHECKPOINTS)

    async def write_down(self, directory: LogDirectory, *names: str) -> None:
        """Write checkpoints of a directory now, of which the caller has its turn.

        What they said of a log that is gone must not be taken for its successor's.
        """
        for name in names:
            if directory in self._directories.online:
                await self._write_one(directory, directory.checkpoint(name))

    async def _write_one(self, directory: LogDirectory, checkpoint: Checkpoint) -> None:
        in_thread = asyncio.get_running_loop().run_in_executor
        with self.watched(directory):
            await in_thread(None, checkpoint.run)
            self._written[checkpoint.path] = checkpoint.offsets

    def turn_of(self, directory: LogDirectory) -> asyncio.Lock:
        """Held by whoever writes a directory's checkpoints.

        A log that is cut lowers what they say: an older one must not come after that.
        """
        turn = self._turns.get(directory.path)
        if turn is None:
            turn = self._turns[directory.path] = asyncio.Lock()
        return turn

    # Producers

    async def expire_producers(self) -> None:
        async for _, log in self._logs():
            log.expire_producers(self._clock())

    async def _logs(self) -> AsyncIterator[tuple[LogDirectory, Log]]:
        """All logs that are there when their turn comes, some of them a turn."""
        for directory in list(self._directories.online):
            logs = [*directory.logs.values(), *directory.futures.values()]
            for number, log in enumerate(logs, 1):
                if log in (directory.logs.get(log.where), directory.futures.get(log.where)):
                    yield directory, log
                if number % SLICE == 0:
                    await asyncio.sleep(0)

    @contextmanager
    def watched(self, directory: LogDirectory) -> Iterator[None]:
        """What the disk under a directory may do, and what follows from it."""
        try:
            yield
        except DiskFull as error:
            self._note.warning("%s", error)
        except DISK_TROUBLE as error:
            if directory in self._directories.online:
                self._fail(directory, error)
