"""The coordinators' time, and the one alarm that each shard needs.

Sessions and transactions are measured in this time, and it is written into records too: it starts
at the wall clock and goes on with the loop's, so it never jumps.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

LONGEST_S = 24 * 3600.0  # An alarm that is further away is looked at again on the way.


class Clock:
    """Milliseconds since 1970 that only ever go on."""

    def __init__(self, wall_ms: int) -> None:
        self.loop = asyncio.get_running_loop()
        self._start_ms = wall_ms - self.loop.time() * 1000

    def now_ms(self) -> int:
        return int(self._start_ms + self.loop.time() * 1000)


class Alarm:
    """Rings at the earliest time that was asked for; who is woken asks for the next."""

    __slots__ = ("_clock", "_due_ms", "_ring", "_timer")

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._due_ms = 0
        self._timer: asyncio.TimerHandle | None = None

    def set(self, due_ms: int | None) -> None:
        """Ring then at the latest. An alarm that is set for earlier stays: it does no harm."""
        if due_ms is None or (self._timer is not None and self._due_ms <= due_ms):
            return
        self.cancel()
        self._due_ms = due_ms
        delay_s = max(0, due_ms - self._clock.now_ms()) / 1000
        self._timer = self._clock.loop.call_later(min(delay_s, LONGEST_S), self._go_off)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _go_off(self) -> None:
        self._timer = None
        self._ring()
