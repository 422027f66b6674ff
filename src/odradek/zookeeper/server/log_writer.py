"""Batches on their way to the transaction log, one at a time.

The log is synced off the loop, unless the disk is so quick that going there takes longer: by the
kernel where it can do that by itself, else by a thread. If the disk is full the batch waits and is
tried again. After any other failure nobody can say what the disk holds, so the server ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from odradek.runtime.clock import stopwatch
from odradek.runtime.disk import DiskFull
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.distribution import Distribution
from odradek.zookeeper.server.pace import Pace
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.storage.txnlog import TxnLog

RETRY_S = 0.5


class LogWriter:
    """Writes a batch, then calls back."""

    def __init__(self, log: TxnLog, tasks: Tasks, note: NodeLog) -> None:
        self.log = log
        self.sync_ms = Distribution()
        self.batch_sizes = Distribution()
        self._loop = asyncio.get_running_loop()
        self._stopwatch = stopwatch()
        self._tasks = tasks
        self._note = note
        self._pace = Pace()

    @property
    def is_quick(self) -> bool:
        return self._pace.is_quick

    def write(self, batch: Batch, done: Callable[[], None]) -> None:
        """Write and sync; then call `done`, which may be before this returns."""
        if self._pace.is_quick and self.log.only_appends(batch):
            self._written(batch, done, *self._write_now(batch))
        elif not self._begin_aside(batch, done):
            self._loop.run_in_executor(None, self._write_in_thread, batch, done)

    def _begin_aside(self, batch: Batch, done: Callable[[], None]) -> bool:
        started_s = self._stopwatch()

        def written(failure: Exception | None) -> None:
            self._written(batch, done, self._stopwatch() - started_s, failure)

        return self.log.write_aside(batch, written)

    def _write_in_thread(self, batch: Batch, done: Callable[[], None]) -> None:
        """Write, then go back to the loop at once: a future would take one more turn of it."""
        took_s, failure = self._write_now(batch)
        self._loop.call_soon_threadsafe(self._written, batch, done, took_s, failure)

    def _write_now(self, batch: Batch) -> tuple[float, Exception | None]:
        started_s, failure = self._stopwatch(), None
        try:
            self.log.write(batch)
        except Exception as error:  # Whatever it is, it ends the server.
            failure = error
        return self._stopwatch() - started_s, failure

    def _written(
        self, batch: Batch, done: Callable[[], None], took_s: float, failure: Exception | None
    ) -> None:
        self._pace.observe(took_s)
        if isinstance(failure, DiskFull):
            self._note.error("no room for the transaction log, so writes wait: %s", failure)
            self._loop.call_later(RETRY_S, self.write, batch, done)
        elif failure is not None:
            # Nobody can say what the disk holds now, so nothing more is promised.
            self._tasks.fail("transaction log", failure)
        else:
            self.sync_ms.observe(int(took_s * 1000))
            done()
