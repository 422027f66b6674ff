"""When time is over for those who wait, without a timer for each of them.

Most who wait are woken long before, and to set and to cancel a timer costs more than the rest of
their waiting. Who waits equally long stands in one line, whose first is the first to go: a line has
one timer, which looks at the first when it fires and is set anew for whoever is first by then.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

LINES_MAX = 64  # So many may wait for nobody; those who ask may name any time.
ROUNDING_S = 1e-6


class Expiring(Protocol):
    """Who waits, but not for ever."""

    def expire(self) -> None: ...


class Line:
    """Who waits equally long, by when their time is over."""

    __slots__ = ("timeout_s", "timer", "waiting")

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self.waiting: dict[Expiring, float] = {}
        self.timer: asyncio.TimerHandle | None = None


class Deadlines:
    """All lines of one loop."""

    __slots__ = ("_lines", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._lines: dict[float, Line] = {}

    def __len__(self) -> int:
        """How many lines there are, whether or not somebody stands in them."""
        return len(self._lines)

    def enter(self, who: Expiring, timeout_s: float) -> Line:
        """Have somebody told when their time is over, unless they leave their line before."""
        line = self._lines.get(timeout_s)
        if line is None:
            line = self._lines[timeout_s] = Line(timeout_s)
        line.waiting[who] = self._loop.time() + timeout_s
        if line.timer is None:
            line.timer = self._loop.call_later(timeout_s, self._look, line)
        return line

    def leave(self, line: Line, who: Expiring) -> None:
        """They need not be told."""
        line.waiting.pop(who, None)
        if not line.waiting and len(self._lines) > LINES_MAX:
            self._close(line)

    def _look(self, line: Line) -> None:
        """Tell those whose time is over."""
        line.timer = None
        now_s = self._loop.time() + ROUNDING_S
        due = []
        for who, until_s in line.waiting.items():
            if until_s > now_s:
                break
            due.append(who)
        for who in due:
            del line.waiting[who]
        first_s = next(iter(line.waiting.values()), None)
        if first_s is None:
            self._close(line)
        else:
            line.timer = self._loop.call_at(first_s, self._look, line)
        for who in due:
            who.expire()

    def _close(self, line: Line) -> None:
        if line.timer is not None:
            line.timer.cancel()
            line.timer = None
        if self._lines.get(line.timeout_s) is line:
            del self._lines[line.timeout_s]
