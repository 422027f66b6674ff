"""A loop that has just answered looks for more for a moment, before it sleeps.

Whoever asks one thing at a time asks the next soon after the answer, and a follower comes back for
more once it has stored what it was sent. If the loop is asleep by then the processor is too, and to
wake it takes 30 to 100 microseconds, more than the request itself; most of all in a virtual
machine. So the loop goes round for as long as a follower takes, and after each round lets others
have the processor first. Under the simulated loop time stands still, and there is nothing to win.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from odradek.runtime.clock import is_simulated, stopwatch
from odradek.runtime.patience import Patience

LINGER_S = 0.0002
CROWDED_S = 0.001  # A round that took so long was somebody else's.

give_way: Callable[[], None] = getattr(os, "sched_yield", lambda: None)


class Lingering:
    """Keeps the running loop awake for a moment after an answer."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._clock_s = stopwatch()
        self._is_off = is_simulated()
        self._patience = Patience()
        self._is_looking = False
        self._until_s = 0.0
        self._looked_s = 0.0
        self._rounds = 0  # Since the last answer.

    def answered(self) -> None:
        """An answer was sent: the next request may follow at once."""
        if self._is_off:
            return
        if self._is_looking:
            if self._rounds > 1:
                self._patience.paid()
        elif self._patience.is_worth_it():
            self._is_looking = True
            self._loop.call_soon(self._look)
        else:
            return
        self._rounds = 0
        self._until_s = self._clock_s() + LINGER_S

    def _look(self) -> None:
        """Go round once more, if it is not time to sleep."""
        now_s = self._clock_s()
        if self._rounds and now_s - self._looked_s > CROWDED_S:
            self._patience.crowded()
            self._is_looking = False
        elif now_s >= self._until_s:
            self._patience.wasted()
            self._is_looking = False
        else:
            self._looked_s = now_s
            self._rounds += 1
            give_way()
            self._loop.call_soon(self._look)
