"""When something must be looked at again, one deadline a key, without looking at all keys.

A deadline that moves later costs nothing: the key comes up at the old one, and its owner sees
that it is early and sets it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Generic, TypeVar

K = TypeVar("K", str, int)


class Deadlines(Generic[K]):
    """Keys in the order of their deadlines."""

    __slots__ = ("_at", "_heap")

    def __init__(self) -> None:
        self._at: dict[K, int] = {}
        self._heap: list[tuple[int, K]] = []

    def __len__(self) -> int:
        return len(self._at)

    def set(self, key: K, at_ms: int) -> None:
        """Have a key come up at this time at the latest."""
        if at_ms < self._at.get(key, at_ms + 1):
            self._at[key] = at_ms
            heappush(self._heap, (at_ms, key))

    @property
    def next_ms(self) -> int | None:
        """When the next key comes up; None if there is none."""
        self._drop_moved()
        return self._heap[0][0] if self._heap else None

    def take_due(self, now_ms: int) -> Iterator[K]:
        """The keys whose time has come; each has no deadline any more."""
        while (at_ms := self.next_ms) is not None and at_ms <= now_ms:
            _, key = heappop(self._heap)
            del self._at[key]
            yield key

    def clear(self) -> None:
        self._at.clear()
        self._heap.clear()

    def _drop_moved(self) -> None:
        while self._heap and self._at.get(self._heap[0][1]) != self._heap[0][0]:
            heappop(self._heap)
