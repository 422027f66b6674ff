"""What was appended last, as long as somebody waits for it at the end of its log.

Followers, and most consumers, read each append as soon as it is there: it need not come from a file
then. A log whose last append nobody took keeps no more until somebody is at its end again. What is
kept is small, and of so many logs only.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from odradek.runtime.disk import Buffer

KEPT_BYTES_MAX = 16 * 1024
KEPT_MAX = 256


class Kept(NamedTuple):
    """One append: the offset that it begins with, and its bytes."""

    offset: int
    data: bytes


class Latest:
    """The last append of one active segment."""

    __slots__ = ("_all", "_is_awaited", "kept")

    def __init__(self, all_: AllLatest) -> None:
        self.kept: Kept | None = None
        self._all = all_
        self._is_awaited = False  # Whether somebody has read to the end since the last append.

    def await_next(self) -> None:
        """Somebody has read all that there is, and will come for what follows."""
        self._is_awaited = True

    def appended(self, offset: int, size: int, buffers: tuple[Buffer, ...]) -> None:
        """This is the end of the log now."""
        if self._is_awaited and size <= KEPT_BYTES_MAX:
            self._is_awaited = False
            self.kept = Kept(offset, b"".join(buffers))
            self._all.keep(self)
        elif self.kept is not None:
            self.drop()

    def drop(self) -> None:
        self.kept = None
        self._all.drop(self)


class AllLatest:
    """Of which logs something is kept, those that were appended to last at the end."""

    def __init__(self, count_max: int = KEPT_MAX) -> None:
        self._count_max = count_max
        self._latest: OrderedDict[Latest, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._latest)

    def keep(self, latest: Latest) -> None:
        self._latest[latest] = None
        self._latest.move_to_end(latest)
        if len(self._latest) > self._count_max:
            oldest, _ = self._latest.popitem(last=False)
            oldest.kept = None

    def drop(self, latest: Latest) -> None:
        self._latest.pop(latest, None)
