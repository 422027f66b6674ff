"""The disk of a member of an ensemble: one queue, done strictly in order.

Entries of the log that wait together are written together. All else that is asked of the disk is
done between two batches, in a thread. Each thing has a mark, and once it is durable, so is all
before it. Nothing is skipped: while there is no room, the queue waits.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from odradek.runtime.disk import DiskFull
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.log_writer import RETRY_S, LogWriter
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.zab.window import Entry

Result = TypeVar("Result")


@dataclass(slots=True)
class Entries:
    """Entries of the log, up to the one with this mark."""

    mark: int = 0
    count: int = 0
    batch: Batch = field(default_factory=Batch)


@dataclass(slots=True)
class Work:
    """Anything else; `mark` is None if nothing is made durable by it."""

    mark: int | None
    do: Callable[[], Any]
    done: Callable[[Any], None]


def settle(future: asyncio.Future[Result], result: Result) -> None:
    if not future.done():  # Whoever waited may be gone.
        future.set_result(result)


class Journal:
    """Does what it is given, and tells how far the disk has come."""

    def __init__(
        self,
        writer: LogWriter,
        durable: Callable[[int], None],
        tasks: Tasks,
        note: NodeLog,
    ) -> None:
        self.proposed_count = 0  # Since the log was last rolled.
        self._loop = asyncio.get_running_loop()
        self._writer = writer
        self._durable = durable
        self._tasks = tasks
        self._note = note
        self._queue: deque[Entries | Work] = deque()
        self._is_busy = False
        self._is_due = asyncio.Event()
        self._due_count = -1

    def append(self, mark: int, entries: Sequence[Entry]) -> None:
        """Append to the log; the mark is the last one's."""
        last = self._queue[-1] if self._queue else None
        if not isinstance(last, Entries):
            last = Entries()
            self._put(last)
        append = last.batch.append
        for zxid, data in entries:
            append(zxid, data)
        last.mark = mark
        last.count += len(entries)
        before, self.proposed_count = self.proposed_count, self.proposed_count + len(entries)
        if before < self._due_count <= self.proposed_count:
            self._is_due.set()

    def do(
        self, mark: int | None, work: Callable[[], Result], done: Callable[[Result], None]
    ) -> None:
        """Do this in a thread, then call `done` with what came of it; it may be tried twice."""
        self._put(Work(mark, work, done))

    def roll(self) -> None:
        """Let what is logged from now on go to a new file."""
        self.proposed_count = 0
        self.do(None, self._writer.log.close, lambda _: None)

    async def until_proposed(self, count: int) -> None:
        """Wait until so many entries were logged since the log was last rolled."""
        self._due_count = max(count, self.proposed_count + 1)
        self._is_due.clear()
        await self._is_due.wait()

    async def drain(self) -> None:
        """Wait until all that is in the queue now is done."""
        await self.in_turn(lambda: None)

    async def in_turn(self, work: Callable[[], Result]) -> Result:
        """Do this when all that is in the queue now is done."""
        done: asyncio.Future[Result] = self._loop.create_future()
        self.do(None, work, partial(settle, done))
        return await done

    def _put(self, item: Entries | Work) -> None:
        self._queue.append(item)
        if not self._is_busy:
            # All that comes in this tick shares the sync.
            self._is_busy = True
            self._loop.call_soon(self._next)

    def _next(self) -> None:
        self._is_busy = bool(self._queue)
        if not self._queue:
            return
        item = self._queue.popleft()
        if isinstance(item, Entries):
            self._writer.batch_sizes.observe(item.count)
            self._writer.write(item.batch, lambda: self._finish(item.mark))
        else:
            self._work(item)

    def _work(self, work: Work) -> None:
        self._loop.run_in_executor(None, self._work_in_thread, work)

    def _work_in_thread(self, work: Work) -> None:
        result, failure = None, None
        try:
            result = work.do()
        except Exception as error:  # Whatever it is, it ends the server.
            failure = error
        self._loop.call_soon_threadsafe(self._worked, work, result, failure)

    def _worked(self, work: Work, result: object, failure: Exception | None) -> None:
        if isinstance(failure, DiskFull):
            self._note.error("no room, so the ensemble waits for us: %s", failure)
            self._loop.call_later(RETRY_S, self._work, work)
        elif failure is not None:
            self._tasks.fail("disk", failure)
        else:
            work.done(result)
            self._finish(work.mark)

    def _finish(self, mark: int | None) -> None:
        """Let the disk go on before we tell: it should not wait for what comes of that."""
        if self._queue and not self._writer.is_quick:
            self._next()
        else:
            self._loop.call_soon(self._next)
        if mark is not None:
            self._durable(mark)
