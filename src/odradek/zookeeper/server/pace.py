"""The pace of the log's disk: whether the next sync is worth another thread.

To hand a batch to a thread and hear back costs a tenth of a millisecond and more while the
interpreter is busy, as long as a good disk takes to sync. So while the disk is quick the loop
waits for it; one slow sync, and the next ones are waited for elsewhere.
"""

from __future__ import annotations

QUICK_S = 0.0007
WEIGHT = 8  # How many syncs it takes to believe in a new pace; a slow one is believed at once.


class Pace:
    """How long syncs have taken of late."""

    __slots__ = ("_typical_s",)

    def __init__(self) -> None:
        self._typical_s = 1.0  # Slow, until it is known better.

    @property
    def is_quick(self) -> bool:
        return self._typical_s < QUICK_S

    def observe(self, took_s: float) -> None:
        """Take one more sync into account."""
        if took_s > 4 * QUICK_S:
            self._typical_s = max(self._typical_s, took_s)
        self._typical_s += (took_s - self._typical_s) / WEIGHT
