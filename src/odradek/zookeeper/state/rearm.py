"""Watches set again after a reconnect: what was missed meanwhile is told now.

A client names the newest zxid it saw. A one-shot watch whose znode has changed since then fires
at once; the others are armed again. Persistent watches are armed and never made up for.
"""

from __future__ import annotations

from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.reads import Reader
from odradek.zookeeper.state.watches import Kind
from odradek.zookeeper.wire.codes import EventType
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2

Missed = list[tuple[int, str]]


def rearm(reader: Reader, request: SetWatches | SetWatches2) -> Missed:
    """Arm what is still to come; return the events that were missed."""
    seen = request.relative_zxid
    missed: Missed = []
    for path in request.data_watches or ():
        node = reader.tree.get(path)
        is_new = node is not None and node.mzxid > seen
        _miss_or_arm(reader, Kind.DATA, path, node, is_new and EventType.DATA_CHANGED, missed)
    for path in request.exist_watches or ():
        if reader.tree.get(path) is not None:
            missed.append((EventType.CREATED, path))
        else:
            reader.watches.add(Kind.DATA, path, reader.watcher)
    for path in request.child_watches or ():
        node = reader.tree.get(path)
        is_new = node is not None and node.pzxid > seen
        _miss_or_arm(reader, Kind.CHILD, path, node, is_new and EventType.CHILDREN_CHANGED, missed)
    if isinstance(request, SetWatches2):
        _arm(reader, Kind.PERSISTENT, request.persistent_watches)
        _arm(reader, Kind.RECURSIVE, request.persistent_recursive_watches)
    return missed


def _miss_or_arm(
    reader: Reader,
    kind: Kind,
    path: str,
    node: Node | None,
    change: int,
    missed: Missed,
) -> None:
    """One watch on a znode that was there: it is gone, it has changed, or neither yet."""
    if node is None:
        missed.append((EventType.DELETED, path))
    elif change:
        missed.append((change, path))
    else:
        reader.watches.add(kind, path, reader.watcher)


def _arm(reader: Reader, kind: Kind, paths: list[str] | None) -> None:
    for path in paths or ():
        reader.watches.add(kind, path, reader.watcher)
