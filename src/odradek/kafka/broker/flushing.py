"""Flushes that answers wait for: `flush.messages` promises that what is answered is on disk.

While one flush of a partition runs, those who come meanwhile gather for the next, which then
serves them all. A flush belongs to the broker and not to who waits for it: a client that goes away
does not end it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.runtime.tasks import Tasks

if TYPE_CHECKING:
    from odradek.kafka.broker.partition import Partition

Fail = Callable[["Partition", Exception], None]


class Flushes:
    """The flushes of one broker that somebody waits for."""

    def __init__(self, tasks: Tasks, clock: Callable[[], int], fail: Fail) -> None:
        self._tasks = tasks
        self._clock = clock
        self._fail = fail
        self._waiting: dict[Partition, list[asyncio.Future[bool]]] = {}

    async def flush(self, partition: Partition) -> bool:
        """Return once all that is appended now would survive a power cut; False if it failed."""
        return await self.begin(partition)

    def begin(self, partition: Partition) -> asyncio.Future[bool]:
        """Begin such a flush, or have the next one be it."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        line = self._waiting.get(partition)
        if line is None:
            self._waiting[partition] = [done]
            name = f"flush of {partition.where}"
            self._tasks.start(name, self._run(partition), may_end=True)
        else:
            line.append(done)
        return done

    async def _run(self, partition: Partition) -> None:
        in_thread = asyncio.get_running_loop().run_in_executor
        while served := self._waiting[partition]:
            self._waiting[partition] = []
            log = partition.log  # Another may take its place meanwhile, which is safe as it is.
            flush = log.begin_flush()
            try:
                await in_thread(None, flush.run)
            except DISK_TROUBLE as error:
                self._fail(partition, error)
                tell(served, is_safe=False)
            else:
                log.end_flush(flush, self._clock())
                partition.advance()
                tell(served, is_safe=True)
        del self._waiting[partition]


def tell(waiting: list[asyncio.Future[bool]], *, is_safe: bool) -> None:
    for done in waiting:
        if not done.done():
            done.set_result(is_safe)
