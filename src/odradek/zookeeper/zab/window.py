"""The newest committed entries, kept so that a learner that was away briefly gets only those."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

COMMITTED_LOG_COUNT = 500


class Entry(NamedTuple):
    """A write as it is logged and sent: header, record and digest."""

    zxid: int
    data: bytes


class CommittedLog:
    """A window that ends with the newest committed entry, without holes."""

    def __init__(self, entries: Iterable[Entry] = (), count_max: int = COMMITTED_LOG_COUNT) -> None:
        self._entries = deque(entries, maxlen=count_max)

    def __len__(self) -> int:
        return len(self._entries)

    def append(self, *entries: Entry) -> None:
        """Take entries that were committed one behind the other."""
        assert not self._entries or entries[0].zxid > self._entries[-1].zxid
        self._entries += entries

    def entries(self) -> list[Entry]:
        return list(self._entries)

    def cut(self, zxid: int) -> None:
        """Forget what is newer than this."""
        while self._entries and self._entries[-1].zxid > zxid:
            self._entries.pop()

    def clear(self) -> None:
        """The history continues elsewhere: what is held does not join it."""
        self._entries.clear()
