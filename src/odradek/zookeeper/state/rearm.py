"""Watches set again after a reconnect: what was missed meanwhile is told now.

A client names the newest zxid it saw. A one-shot watch whose znode has changed since then fires
at once; the others are armed again. Persistent watches are armed and never made up for.
"""

from __future__ import annotations

from odradek.zookeeper.state.reads import Reader
from odradek.zookeeper.state.watches import Kind
from odradek.zookeeper.wire.codes import EventType
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2

Missed = list[tuple[int, str]]


def rearm(reader: Reader, request: SetWatches | SetWatches2) -> Missed:
    """Arm what is still to come; return the events that were missed."""
    missed = _data(reader, request) + _exist(reader, request) + _child(reader, request)
    if isinstance(request, SetWatches2):
        for path in request.persistent_watches or ():
            reader.watches.add(Kind.PERSISTENT, path, reader.watcher)
        for path in request.persistent_recursive_watches or ():
            reader.watches.add(Kind.RECURSIVE, path, reader.watcher)
    return missed


def _data(reader: Reader, request: SetWatches | SetWatches2) -> Missed:
    missed: Missed = []
    for path in request.data_watches or ():
        node = reader.tree.get(path)
        if node is None:
            missed.append((EventType.DELETED, path))
        elif node.mzxid > request.relative_zxid:
            missed.append((EventType.DATA_CHANGED, path))
        else:
            reader.watches.add(Kind.DATA, path, reader.watcher)
    return missed


def _exist(reader: Reader, request: SetWatches | SetWatches2) -> Missed:
    missed: Missed = []
    for path in request.exist_watches or ():
        if reader.tree.get(path) is not None:
            missed.append((EventType.CREATED, path))
        else:
            reader.watches.add(Kind.DATA, path, reader.watcher)
    return missed


def _child(reader: Reader, request: SetWatches | SetWatches2) -> Missed:
    missed: Missed = []
    for path in request.child_watches or ():
        node = reader.tree.get(path)
        if node is None:
            missed.append((EventType.DELETED, path))
        elif node.pzxid > request.relative_zxid:
            missed.append((EventType.CHILDREN_CHANGED, path))
        else:
            reader.watches.add(Kind.CHILD, path, reader.watcher)
    return missed
