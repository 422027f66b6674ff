"""Watches: who wants to hear of which path.

| set by | kind | hears |
|---|---|---|
| getData, exists | data, once | created, deleted, data changed |
| getChildren | child, once | children changed, deleted |
| addWatch | persistent | all four, of one path |
| addWatch | recursive | created, deleted, data changed, of a path and all below it |

A watcher hears of one change of one path once, whatever it has set. Most paths have one watcher,
so a table holds the watcher itself, and a collection only where there are several.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from odradek.zookeeper.state.paths import ancestors_of
from odradek.zookeeper.wire.codes import EventType, WatcherType

Watcher = Hashable


class Kind(IntEnum):
    """The tables."""

    DATA = 0
    CHILD = 1
    PERSISTENT = 2
    RECURSIVE = 3


ONCE = (Kind.DATA, Kind.CHILD)
HEARING: dict[int, tuple[Kind, ...]] = {
    EventType.CREATED: (Kind.DATA,),
    EventType.DATA_CHANGED: (Kind.DATA,),
    EventType.DELETED: (Kind.DATA, Kind.CHILD),
    EventType.CHILDREN_CHANGED: (Kind.CHILD,),
}
MEANT: dict[int, tuple[Kind, ...]] = {
    WatcherType.CHILDREN: (Kind.CHILD,),
    WatcherType.DATA: (Kind.DATA,),
    WatcherType.PERSISTENT: (Kind.PERSISTENT,),
    WatcherType.PERSISTENT_RECURSIVE: (Kind.RECURSIVE,),
    WatcherType.ANY: tuple(Kind),
}


@dataclass(slots=True)
class Watches:
    """All watches of one server."""

    # Kind, then path, to a watcher or (in order of arrival) several.
    _tables: tuple[dict[str, Watcher | dict[Watcher, None]], ...] = field(
        default_factory=lambda: tuple({} for _ in Kind)
    )
    # Watcher, then kind, to paths: what to forget when a connection is gone.
    holders: dict[Watcher, tuple[set[str], ...]] = field(default_factory=dict)

    def add(self, kind: Kind, path: str, watcher: Watcher) -> None:
        held = self.holders.get(watcher)
        if held is None:
            held = self.holders[watcher] = tuple(set() for _ in Kind)
        if path in held[kind]:
            return
        held[kind].add(path)
        table = self._tables[kind]
        present = table.get(path)
        if present is None:
            table[path] = watcher
        elif isinstance(present, dict):
            present[watcher] = None
        else:
            table[path] = {present: None, watcher: None}

    def remove(self, kind: Kind, path: str, watcher: Watcher) -> bool:
        """Forget one watch; say whether it was there."""
        held = self.holders.get(watcher)
        if held is None or path not in held[kind]:
            return False
        held[kind].discard(path)
        self._forget(kind, path, watcher)
        return True

    def remove_all(self, watcher: Watcher) -> None:
        """Forget all watches of one who is gone."""
        for kind, paths in zip(Kind, self.holders.pop(watcher, ()), strict=False):
            for path in sorted(paths):
                self._forget(kind, path, watcher)

    def has(self, path: str, meant: int, watcher: Watcher) -> bool:
        held = self.holders.get(watcher)
        return held is not None and any(path in held[kind] for kind in MEANT[meant])

    def trigger(self, event: int, path: str) -> list[Watcher]:
        """Who hears of this, each once; watches that hear once are gone."""
        hearing: dict[Watcher, None] = {}
        for kind in HEARING[event]:
            if found := self._tables[kind].pop(path, None):
                for watcher in _each(found):
                    self.holders[watcher][kind].discard(path)
                    hearing[watcher] = None
        if found := self._tables[Kind.PERSISTENT].get(path):
            hearing.update(dict.fromkeys(_each(found)))
        if self._tables[Kind.RECURSIVE] and event != EventType.CHILDREN_CHANGED:
            for above in ancestors_of(path):
                if found := self._tables[Kind.RECURSIVE].get(above):
                    hearing.update(dict.fromkeys(_each(found)))
        return list(hearing)

    def _forget(self, kind: Kind, path: str, watcher: Watcher) -> None:
        table = self._tables[kind]
        present = table[path]
        if isinstance(present, dict):
            del present[watcher]
            if not present:
                del table[path]
        else:
            del table[path]

    def held(self, kind: Kind) -> Iterator[tuple[Watcher, set[str]]]:
        """Who has watches of a kind, and on which paths."""
        for watcher, paths in self.holders.items():
            if paths[kind]:
                yield watcher, paths[kind]

    def count(self) -> int:
        return sum(len(paths) for held in self.holders.values() for paths in held)


def _each(found: Watcher | dict[Watcher, None]) -> Iterable[Watcher]:
    return found if isinstance(found, dict) else (found,)
