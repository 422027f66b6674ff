"""What a cleaning gives on its way and at its end, and how fast it may go.

All that it gives are plain values: they may come from another thread or another process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from odradek.runtime.errors import OdradekError

STEP_BYTES = 1 << 18  # So much is read or written between two looks around.


class CleanedGroup(NamedTuple):
    """Some segments, and the one that is ready to take their place."""

    base_offsets: tuple[int, ...]
    bytes_read: int
    bytes_written: int
    records_read: int
    records_kept: int


class Finished(NamedTuple):
    """The log is clean up to an offset, if all groups were swapped in."""

    end_offset: int
    groups_count: int
    keys_count: int
    map_bytes: int


class Stopped(NamedTuple):
    """It did not come to its end, and may be begun anew later."""

    reason: str


class Uncleanable(NamedTuple):
    """This log holds what nobody can read; trying again would not help."""

    reason: str


CleaningStep = CleanedGroup | Finished | Stopped | Uncleanable


class Stop(OdradekError):
    """Somebody wants it to end."""


def _never() -> bool:
    return False


def _at_once(_: int) -> None:
    pass


@dataclass(slots=True)
class Pace:
    """How fast it may go, and whether it may go on."""

    wait: Callable[[int], None] = _at_once  # Told how many bytes were read or written.
    is_stopped: Callable[[], bool] = _never
    _bytes_count: int = field(default=0, init=False)

    def count(self, bytes_count: int) -> None:
        self._bytes_count += bytes_count
        if self._bytes_count >= STEP_BYTES:
            self.rest()

    def rest(self) -> None:
        """Look around: wait if it must be slower, end if it must not go on."""
        if self.is_stopped():
            raise Stop("it was stopped")
        self.wait(self._bytes_count)
        self._bytes_count = 0
