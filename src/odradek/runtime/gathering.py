"""A loop that serves a crowd lets requests gather, where that serves them sooner.

Clients who have many requests on their way send them one by one. A quick loop is woken by each, and
answers it by itself: that costs the loop and the client more than the request does, and where they
share processors, more of it leaves less for requests. If the loop sleeps for a moment after each
round it finds many at once. Whether that pays depends on the clients: one alone, with few requests
on their way, only waits longer. So it is tried, and kept up while more is answered that way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from odradek.runtime.clock import is_simulated, stopwatch
from odradek.runtime.trial import Trial

PAUSE_S = 0.00005  # The kernel adds as much again.


class Gathering:
    """Lets the running loop sleep a moment after rounds in which several were answered at once."""

    def __init__(self, pause: Callable[[float], None] = time.sleep) -> None:
        self._loop = asyncio.get_running_loop()
        self._clock_s = stopwatch()
        self._is_off = is_simulated()
        self._pause = pause
        self._trial = Trial(self._clock_s())
        self._is_in_round = False

    def answered(self, count: int) -> None:
        """So many answers leave together."""
        if self._is_off:
            return
        self._trial.did(count)
        if not self._is_in_round:
            self._is_in_round = True
            self._loop.call_soon(self._end_round)

    def _end_round(self) -> None:
        self._is_in_round = False
        trial, now_s = self._trial, self._clock_s()
        if now_s >= trial.until_s:
            trial.turn(now_s)
        if trial.is_new_way:
            self._pause(PAUSE_S)
