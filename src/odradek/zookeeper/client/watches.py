"""The watches of one session: who wants to hear of which path.

A one-shot watch is told once, then forgotten, here as on the server; a persistent one stays. The
server that we come to next knows nothing of our watches. It is given all of them together with
the last zxid we saw, and tells what the one-shot watches missed. What persistent ones missed
nobody tells: read again when the connection is back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import chain
from typing import NamedTuple

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import EventType, WatcherType
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2
from odradek.zookeeper.wire.messages.responses import WatcherEvent

PACKET_BYTES = 128 * 1024


class WatchEvent(NamedTuple):
    """What happened to which path.

    A watcher is told of type NONE when the session has ended, and its watches with it; the types
    that end in REMOVED say that `remove_watches` took the watch away.
    """

    type: EventType
    path: str
    zxid: int = -1  # Of the change; -1 if it happened while we were away, or an old server tells.


Watcher = Callable[[WatchEvent], object]


class Kind(Enum):
    """The lists of a SetWatches2, in its order."""

    DATA = 0
    EXISTS = 1
    CHILD = 2
    PERSISTENT = 3
    RECURSIVE = 4


ONE_SHOT = {
    EventType.CREATED: (Kind.DATA, Kind.EXISTS),
    EventType.DELETED: (Kind.DATA, Kind.EXISTS, Kind.CHILD),
    EventType.DATA_CHANGED: (Kind.DATA, Kind.EXISTS),
    EventType.CHILDREN_CHANGED: (Kind.CHILD,),
}
REMOVED = {
    Kind.DATA: EventType.DATA_WATCH_REMOVED,
    Kind.EXISTS: EventType.DATA_WATCH_REMOVED,
    Kind.CHILD: EventType.CHILD_WATCH_REMOVED,
    Kind.PERSISTENT: EventType.PERSISTENT_WATCH_REMOVED,
    Kind.RECURSIVE: EventType.PERSISTENT_WATCH_REMOVED,
}
KINDS = {
    WatcherType.CHILDREN: (Kind.CHILD,),
    WatcherType.DATA: (Kind.DATA, Kind.EXISTS),
    WatcherType.PERSISTENT: (Kind.PERSISTENT,),
    WatcherType.PERSISTENT_RECURSIVE: (Kind.RECURSIVE,),
    WatcherType.ANY: tuple(Kind),
}


class Watches:
    """Watchers by kind and path, as the server knows the path. Each is told once an event."""

    def __init__(self) -> None:
        self._by_kind: dict[Kind, dict[str, dict[Watcher, None]]] = {kind: {} for kind in Kind}

    def add(self, kind: Kind, path: str, watcher: Watcher) -> None:
        self._by_kind[kind].setdefault(path, {})[watcher] = None

    def forget(self, path: str, watcher: Watcher) -> None:
        """Tell this watcher nothing more about the path."""
        for watched in self._by_kind.values():
            watchers = watched.get(path, {})
            watchers.pop(watcher, None)
            if not watchers:
                watched.pop(path, None)

    def take(self, event: WatcherEvent) -> tuple[EventType, Iterable[Watcher]]:
        """What the event is and who must be told; the one-shot watches among them are gone."""
        if event.type not in ONE_SHOT:
            raise ProtocolError(f"a notification of type {event.type}")
        found: dict[Watcher, None] = {}
        happened = EventType(event.type)
        for kind in ONE_SHOT[happened]:
            found |= self._by_kind[kind].pop(event.path, {})
        found |= self._by_kind[Kind.PERSISTENT].get(event.path, {})
        if happened is not EventType.CHILDREN_CHANGED:
            found |= self._recursive(event.path)
        return happened, found

    def remove(self, path: str, wanted: WatcherType) -> list[tuple[EventType, Watcher]]:
        """Drop the watches of a path; who must be told that, and how."""
        return [
            (REMOVED[kind], watcher)
            for kind in KINDS[wanted]
            for watcher in self._by_kind[kind].pop(path, {})
        ]

    def take_all(self) -> Iterable[Watcher]:
        """Drop every watch; who had one."""
        found: dict[Watcher, None] = {}
        for watched in self._by_kind.values():
            for watchers in watched.values():
                found |= watchers
            watched.clear()
        return found

    def packets(self, last_zxid: int) -> Iterator[SetWatches | SetWatches2]:
        """All watches, as a new connection must be told of them, in packets of a bearable size."""
        listed = ((kind, path) for kind, watched in self._by_kind.items() for path in watched)
        for first in listed:
            yield make_packet(last_zxid, _take_packet(chain([first], listed)))

    def _recursive(self, path: str) -> dict[Watcher, None]:
        """Who watches the path or anything above it, with all that is below."""
        watched = self._by_kind[Kind.RECURSIVE]
        found: dict[Watcher, None] = {}
        while watched and path:
            found |= watched.get(path, {})
            path = path[: path.rfind("/")] or ("/" if len(path) > 1 else "")
        return found


def _take_packet(listed: Iterator[tuple[Kind, str]]) -> dict[Kind, list[str]]:
    """Take from the list what fits into one packet."""
    packet: dict[Kind, list[str]] = {kind: [] for kind in Kind}
    size = 0
    for kind, path in listed:
        packet[kind].append(path)
        size += 4 + len(path.encode())
        if size >= PACKET_BYTES:
            break
    return packet


def make_packet(last_zxid: int, watched: dict[Kind, list[str]]) -> SetWatches | SetWatches2:
    """The older form wherever it is enough: servers before 3.6 know no other."""
    data, exists, child, persistent, recursive = watched.values()
    if persistent or recursive:
        return SetWatches2(last_zxid, data, exists, child, persistent, recursive)
    return SetWatches(last_zxid, data, exists, child)
