"""Writes on their way through a server that is alone: prepared, logged, committed, answered.

While one batch is being synced the next one gathers, so the slower the disk, the more writes share
a sync. Nothing is applied or answered before it is safe. While the disk is full reads go on, and
writes are not answered.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from odradek.runtime.clock import wall_clock
from odradek.zookeeper.server.distribution import Distribution
from odradek.zookeeper.server.log_writer import LogWriter
from odradek.zookeeper.state.asker import Asker
from odradek.zookeeper.state.processor import Happening, Processor, Proposal
from odradek.zookeeper.state.reads import Answer
from odradek.zookeeper.state.watches import Watches
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.txn import TxnHeader
from odradek.zookeeper.wire.requests import Request

CLOSE_SESSION = int(Op.CLOSE_SESSION)


@dataclass(slots=True)
class Forwarded:
    """A write (or a sync) that another server decides; its header is that of the outcome."""

    op: int
    header: TxnHeader
    origin: Origin | None
    answer: Answer = None  # Known beforehand for a sync.


class Origin(Protocol):
    """Who asked for a write, and hears when it is done."""

    def committed(self, write: Proposal | Forwarded, answer: Answer | Error) -> None: ...


class Audience(Protocol):
    """Who hears of all writes."""

    @property
    def watches(self) -> Watches: ...

    def begin(self) -> None:
        """A batch is about to be committed."""

    def committed(self, header: TxnHeader, happenings: list[Happening]) -> None:
        """Something happened, or a session is over; called before the origin hears of it."""

    def flush(self) -> None:
        """All writes of a batch are done."""


class Writes(Protocol):
    """Where clients' writes go: here through the log, in an ensemble through its leader."""

    @property
    def outstanding(self) -> int: ...

    @property
    def processor(self) -> Processor: ...

    @property
    def sync_ms(self) -> Distribution: ...

    @property
    def batch_sizes(self) -> Distribution: ...

    def propose(
        self,
        asker: Asker,
        cxid: int,
        op: int,
        request: Any,
        origin: Origin | None,
        asked: Request | None = None,
    ) -> Proposal | Forwarded: ...


class Pipeline:
    """The one line in which all writes stand."""

    def __init__(
        self,
        processor: Processor,
        writer: LogWriter,
        audience: Audience,
    ) -> None:
        self.processor = processor
        self.outstanding = 0
        self.proposed_count = 0  # Since the log was last rolled.
        self.sync_ms = writer.sync_ms
        self.batch_sizes = writer.batch_sizes
        self._loop = asyncio.get_running_loop()  # In 3.11, asking for it is a system call.
        self._wall_ms = wall_clock()
        self._writer = writer
        self._audience = audience
        self._batch = Batch()
        self._due_count = -1
        self._is_due = asyncio.Event()
        self._idle: asyncio.Future[None] | None = None
        self._gathering: list[tuple[Proposal, Origin | None]] = []
        self._syncing: list[tuple[Proposal, Origin | None]] = []

    def propose(
        self,
        asker: Asker,
        cxid: int,
        op: int,
        request: Any,
        origin: Origin | None,
        asked: Request | None = None,
    ) -> Proposal:
        """Put a write in line; `asked` is what a client sent, if one did."""
        proposal = self.processor.prepare(asker, cxid, op, request, self._wall_ms())
        gathering = self._gathering
        self._batch.append(proposal.header.zxid, proposal.entry)
        gathering.append((proposal, origin))
        self.outstanding += 1
        self.proposed_count += 1
        if self.proposed_count == self._due_count:
            self._is_due.set()
        if len(gathering) == 1 and not self._syncing:
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
            self._writer.write(batch, self._written)

    def _written(self) -> None:
        safe, self._syncing = self._syncing, []
        self.batch_sizes.observe(len(safe))
        if self._writer.is_quick:
            self._commit(safe)  # What follows may be safe as soon as we turn to it.
            self._sync()
        else:
            self._sync()
            self._commit(safe)

    def _commit(self, safe: list[tuple[Proposal, Origin | None]]) -> None:
        self.outstanding -= len(safe)
        audience, commit = self._audience, self.processor.commit
        holders = audience.watches.holders
        audience.begin()
        for proposal, origin in safe:
            answer, happenings = commit(proposal, bool(holders))
            if happenings or proposal.op == CLOSE_SESSION:
                audience.committed(proposal.header, happenings)
            if origin is not None:
                origin.committed(proposal, answer)
        audience.flush()
        if self._idle is not None and not self.outstanding:
            self._idle.set_result(None)
            self._idle = None
