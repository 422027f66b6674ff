"""Whether it is worth to look for more work before going to sleep.

To wake a sleeping processor takes longer than many an answer does; to look in vain takes time from
whoever else wants it. So looking is kept up while it pays, and tried now and then when it does not.
Where somebody else was waiting for the processor it is given up for long.
"""

from __future__ import annotations

HOPE_MAX = 8  # So many vain looks in a row, and hope is gone.
TRIED_AFTER = 32  # Then one occasion of so many is taken...
CROWDED_AFTER = 1024  # ...or of so many, where others need the processor.


class Patience:
    """Remembers how looking went of late."""

    __slots__ = ("_hope", "_missed", "_tried_after")

    def __init__(self) -> None:
        self._hope = HOPE_MAX
        self._missed = 0  # Occasions since hope was gone, or since the last try.
        self._tried_after = TRIED_AFTER

    def is_worth_it(self) -> bool:
        """There is an occasion: should it be taken?"""
        if self._hope:
            return True
        self._missed += 1
        if self._missed < self._tried_after:
            return False
        self._missed = 0
        return True

    def paid(self) -> None:
        """Work came while we looked."""
        self._hope = HOPE_MAX
        self._tried_after = TRIED_AFTER

    def wasted(self) -> None:
        """We looked in vain."""
        if self._hope:
            self._hope -= 1

    def crowded(self) -> None:
        """Somebody else had been waiting for the processor."""
        self._hope = 0
        self._missed = 0
        self._tried_after = CROWDED_AFTER
