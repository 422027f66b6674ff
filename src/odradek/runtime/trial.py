"""Which of two ways of working gets more done, found by doing both for a while.

What is better depends on who else is on the machine and on what they ask, and changes with them. So
the two are tried in turns, as short as can be judged; the better one is kept for a while, then they
are tried again: the later, the more often the same one has won.
"""

from __future__ import annotations

TURN_S = 0.02
TURNS = 6  # Of a trial, each way by turns.
KEPT_S = 1.0  # After a trial that changed what is done.
KEPT_MAX_S = 8.0
WORTH = 1.05  # So much more must be done the new way.
IDLE = 10_000.0  # Where less is done in a second, the old way does.


class Trial:
    """Counts what is done, turn by turn; says how to work until when."""

    __slots__ = ("_chosen", "_done", "_kept_s", "_rates", "_started_s", "is_new_way", "until_s")

    def __init__(self, now_s: float) -> None:
        self._started_s = now_s
        self._done = 0
        self._chosen = self.is_new_way = False
        self._kept_s = KEPT_S
        self._rates: list[float] | None = None  # Of the turns of a trial that goes on.
        self.until_s = now_s + TURN_S

    def did(self, count: int) -> None:
        """So much was done."""
        self._done += count

    def turn(self, now_s: float) -> None:
        """It is time: `until_s` has come."""
        rate = self._done / (now_s - self._started_s)
        self._started_s, self._done = now_s, 0
        self.until_s = now_s + TURN_S
        if rate < IDLE:
            # Nothing is known of what may come.
            self._chosen = self.is_new_way = False
            self._kept_s = KEPT_S
            self._rates = None
            return
        rates = self._rates = [] if self._rates is None else [*self._rates, rate]
        if len(rates) < TURNS:
            self.is_new_way = len(rates) % 2 == 1
        else:
            self._choose(sum(rates[1::2]) > WORTH * sum(rates[::2]), now_s)

    def _choose(self, is_new_way: bool, now_s: float) -> None:
        is_as_before = is_new_way is self._chosen
        self._kept_s = min(2 * self._kept_s, KEPT_MAX_S) if is_as_before else KEPT_S
        self._chosen = self.is_new_way = is_new_way
        self._rates = None
        self.until_s = now_s + self._kept_s
