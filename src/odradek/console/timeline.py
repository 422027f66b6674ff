"""The timeline: what happened, oldest first, none twice, and no more than can be kept; pure.

Each event has a number, which only grows: whoever looks again sees whether there is anything new.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import NamedTuple

from odradek.console.events import Event, Kind

KEPT_MAX = 5000


class Entry(NamedTuple):
    """An event in its place."""

    number: int
    event: Event


class Timeline:
    """The last events, up to `kept_max`."""

    def __init__(self, kept_max: int = KEPT_MAX) -> None:
        self._kept: deque[Entry] = deque()
        self._kept_max = kept_max
        self._known: set[tuple[object, ...]] = set()
        self.last_number = 0

    def add(self, events: Iterable[Event]) -> list[Event]:
        """Take these in; return those that were not known."""
        fresh = []
        for event in events:
            if event.identity in self._known:
                continue
            self.last_number += 1
            self._known.add(event.identity)
            self._kept.append(Entry(self.last_number, event))
            fresh.append(event)
            if len(self._kept) > self._kept_max:
                self._known.discard(self._kept.popleft().event.identity)
        return fresh

    def add_before(self, events: Iterable[Event]) -> None:
        """Take in what happened before all that is known, as if it had always been there."""
        known = [entry.event for entry in self._kept]
        self._kept.clear()
        self._known.clear()
        self.add([*events, *known])

    def newest(
        self,
        count: int,
        *,
        kinds: Collection[Kind] | None = None,
        text: str = "",
    ) -> list[Entry]:
        """The last events that match, newest first."""
        found: list[Entry] = []
        for entry in reversed(self._kept):
            if len(found) == count:
                break
            if matches(entry.event, kinds, text.casefold()):
                found.append(entry)
        return found

    def __len__(self) -> int:
        return len(self._kept)


def matches(event: Event, kinds: Collection[Kind] | None, folded: str) -> bool:
    if kinds is not None and event.kind not in kinds:
        return False
    about = f"{event.text} {event.path} {event.topic} {event.group}"
    return folded in about.casefold()
