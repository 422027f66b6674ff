"""Writes on their way through a server that is alone: prepared, logged, committed, answered.

The log is synced off the loop, unless the disk is so quick that going there takes longer. While one
batch is being synced the next one gathers, so the slower the disk, the more writes share a sync.
Nothing is applied or answered before it is safe.
If the disk is full the batch waits and is tried again: reads go on, writes are not answered.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from odradek.runtime.clock import stopwatch, wall_clock
from odradek.runtime.disk import DiskFull
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.server.distribution import Distribution
from odradek.zookeeper.server.pace import Pace
from odradek.zookeeper.state.asker import Asker
from odradek.zookeeper.state.processor import Happening, Processor, Proposal
from odradek.zookeeper.state.reads import Answer
from odradek.zookeeper.state.watches import Watches
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.storage.txnlog import TxnLog
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.errors import Error

RETRY_S = 0.5


class Origin(Protocol):
    """Who asked for a write, and hears when it is done."""

    def committed(self, proposal: Proposal, answer: Answer | Error) -> None: ...


class Audience(Protocol):
    """Who hears of all writes."""

    @property
    def watches(self) -> Watches: ...

    def begin(self) -> None:
        """A batch is about to be committed."""

    def committed(self, proposal: Proposal, happenings: list[Happening]) -> None:
        """Something happened, or a session is over; called before the origin hears of it."""

    def flush(self) -> None:
        """All writes of a batch are done."""


class Pipeline:
    """The one line in which all writes stand."""

    def __init__(
        self,
        processor: Processor,
        log: TxnLog,
        audience: Audience,
        tasks: Tasks,
        note: NodeLog,
    ) -> None:
        self.processor = processor
        self.outstanding = 0
        self.proposed_count = 0  # Since the log was last rolled.
        self.sync_ms = Distribution()
        self.batch_sizes = Distribution()
        self._loop = asyncio.get_running_loop()  # In 3.11, asking for it is a system call.
        self._wall_ms = wall_clock()
        self._stopwatch = stopwatch()
        self._log = log
        self._audience = audience
        self._tasks = tasks
        self._note = note
        self._pace = Pace()
        self._batch = Batch()
        self._due_count = -1
        self._is_due = asyncio.Event()
        self._idle: asyncio.Future[None] | None = None
        self._gathering: list[tuple[Proposal, Origin | None]] = []
        self._syncing: list[tuple[Proposal, Origin | None]] = []

    def propose(
        self, asker: Asker, cxid: int, op: int, request: Any, origin: Origin | None
    ) -> Proposal:
        """Put a write in line."""
        proposal = self.processor.prepare(asker, cxid, op, request, self._wall_ms())
        self._batch.append(proposal.header.zxid, proposal.entry)
        self._gathering.append((proposal, origin))
        self.outstanding += 1
        self.proposed_count += 1
        if self.proposed_count == self._due_count:
            self._is_due.set()
        if not self._syncing and len(self._gathering) == 1:
            # All that comes in this tick shares the sync.
            self._loop.call_soon(self._sync)
        return proposal

    def roll(self) -> None:
        """Let what is proposed from now on go to a new file of the log."""
        self._batch.roll()
        self.proposed_count = 0

    async def until_proposed(self, count: int) -> None:
        """Wait until so many writes were proposed since the log was last rolled."""
        self._due_count = max(count, self.proposed_count + 1)
        self._is_due.clear()
        await self._is_due.wait()

    async def drain(self) -> None:
        """Wait until all that is in line is done."""
        while self.outstanding:
            idle = self._idle = self._loop.create_future()
            await idle

    def _sync(self) -> None:
        if self._gathering and not self._syncing:
            self._syncing, self._gathering = self._gathering, []
            batch, self._batch = self._batch, Batch()
            self._write(batch)

    def _write(self, batch: Batch) -> None:
        if self._pace.is_quick and self._log.only_appends(batch):
            self._written(batch, *self._write_now(batch))
        else:
            self._loop.run_in_executor(None, self._write_in_thread, batch)

    def _write_in_thread(self, batch: Batch) -> None:
        """Write, then go back to the loop at once: a future would take one more turn of it."""
        took_s, failure = self._write_now(batch)
        self._loop.call_soon_threadsafe(self._written, batch, took_s, failure)

    def _write_now(self, batch: Batch) -> tuple[float, Exception | None]:
        started_s, failure = self._stopwatch(), None
        try:
            self._log.write(batch)
        except Exception as error:  # Whatever it is, it ends the server.
            failure = error
        return self._stopwatch() - started_s, failure

    def _written(self, batch: Batch, took_s: float, failure: Exception | None) -> None:
        self._pace.observe(took_s)
        if isinstance(failure, DiskFull):
            self._note.error("no room for the transaction log, so writes wait: %s", failure)
            self._loop.call_later(RETRY_S, self._write, batch)
            return
        if failure is not None:
            # Nobody can say what the disk holds now, so nothing more is promised.
            self._tasks.fail("transaction log", failure)
            return
        safe, self._syncing = self._syncing, []
        self.sync_ms.observe(int(took_s * 1000))
        self.batch_sizes.observe(len(safe))
        if self._pace.is_quick:
            self._commit(safe)  # What follows may be safe as soon as we turn to it.
            self._sync()
        else:
            self._sync()
            self._commit(safe)

    def _commit(self, safe: list[tuple[Proposal, Origin | None]]) -> None:
        self.outstanding -= len(safe)
        audience, commit = self._audience, self.processor.commit
        watches = audience.watches
        audience.begin()
        for proposal, origin in safe:
            answer, happenings = commit(proposal, bool(watches.holders))
            if happenings or proposal.op == Op.CLOSE_SESSION:
                audience.committed(proposal, happenings)
            if origin is not None:
                origin.committed(proposal, answer)
        audience.flush()
        if self._idle is not None and not self.outstanding:
            self._idle.set_result(None)
            self._idle = None
