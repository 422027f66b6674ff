"""A cleaner in a thread, for disks that live in this process: a simulated one, or a test's.

It is told to wait between two segments, not inside of them, for nothing here may hold a thread of
the loop's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from odradek.kafka.storage.cleaner import Cleaning
from odradek.kafka.storage.cleaner_steps import CleaningStep, Pace
from odradek.kafka.storage.throttle import Throttle
from odradek.runtime.disk import Disk


class CleanerThread:
    """One cleaning at a time; the same verbs as `CleanerProcess`."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._steps: Iterator[CleaningStep] = iter(())
        self._throttle = Throttle(float("inf"))
        self._halted = asyncio.Event()
        self._bytes_count = 0
        self._running: asyncio.Future[CleaningStep] | None = None

    async def begin(self, cleaning: Cleaning) -> None:
        self._halted.clear()
        self._steps = cleaning.run(self._disk, Pace(self._count, self._halted.is_set))

    async def step(self) -> CleaningStep:
        await self._pause()
        in_thread = asyncio.get_running_loop().run_in_executor
        self._running = in_thread(None, next, self._steps)
        return await asyncio.shield(self._running)

    def set_rate(self, bytes_per_second: float) -> None:
        self._throttle = Throttle(bytes_per_second)

    def halt(self) -> None:
        self._halted.set()

    async def close(self) -> None:
        """A thread cannot be killed; it ends at its next look around."""
        self._halted.set()
        if self._running is not None:
            await asyncio.gather(self._running, return_exceptions=True)

    def _count(self, bytes_count: int) -> None:
        self._bytes_count += bytes_count

    async def _pause(self) -> None:
        count, self._bytes_count = self._bytes_count, 0
        pause_ms = self._throttle.pause_ms(count, asyncio.get_running_loop().time() * 1000)
        if pause_ms:
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_ms / 1000):
                    await self._halted.wait()
