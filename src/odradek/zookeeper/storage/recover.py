"""A server's state, from its files: the newest snapshot that is whole, and the log behind it.

What was promised is there, or the server does not start. It starts with the newest snapshot that
can be read, replays all later transactions, and compares the tree with the digests that they carry.
A log without a snapshot has lost what it builds upon. Only an empty directory is a new server, and
gets its first snapshot at once, so that it is not taken for an empty one again.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from odradek.runtime.disk import Disk
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.errors import CorruptSnapshot, MissingSnapshot
from odradek.zookeeper.storage.log_reader import LogEntry, cut_tail, read_log
from odradek.zookeeper.storage.names import snapshot_files
from odradek.zookeeper.storage.replay import Replay
from odradek.zookeeper.storage.snapshot_file import remove_unfinished, write_snapshot
from odradek.zookeeper.storage.snapshot_reader import Snapshot, read_snapshot
from odradek.zookeeper.storage.snapshot_slices import ALL_PARTS, SnapshotFormat

SNAPSHOTS_TRIED = 100


@dataclass(slots=True)
class Recovered:
    """The state of a server, and what was done to reach it."""

    tree: Tree
    timeouts: dict[int, int]  # By session.
    notes: list[str]
    warnings: list[str]  # What an operator should look into.
    base_zxid: int = 0  # Of the snapshot that all began with.
    recent: list[LogEntry] = field(default_factory=list)

    @property
    def last_zxid(self) -> int:
        return self.tree.last_zxid


def recover(
    disk: Disk,
    snapshots: str,
    logs: str,
    *,
    trusts_empty: bool = False,
    checks_digests: bool = True,
    parts: SnapshotFormat = ALL_PARTS,
    compression: str = "",
    recent_count: int = 0,
) -> Recovered:
    """Read the directories of snapshots and of logs; `trusts_empty` is snapshot.trust.empty.

    Of the log behind the snapshot the newest `recent_count` entries are kept.
    """
    recent: deque[LogEntry] = deque(maxlen=recent_count)
    notes = [f"removed {path}" for path in remove_unfinished(disk, snapshots)]
    with garbage_kept():
        snapshot = newest_snapshot(disk, snapshots, notes)
        if snapshot is None:
            refuse_log_alone(disk, logs, trusts_empty)
        start = snapshot or Snapshot("", Tree.fresh(), {}, None)
        replay = Replay(start, checks_digests)
        base_zxid = start.tree.last_zxid
        last = replay.run(kept(read_log(disk, logs, base_zxid), base_zxid, recent))
    notes += replay.notes
    if note := cut_tail(disk, logs, last):
        notes.append(note)
    if snapshot is None:
        path = write_snapshot(disk, snapshots, start.tree, start.timeouts, parts, compression)
        notes.append(f"wrote {path}, as there was none")
    return Recovered(start.tree, start.timeouts, notes, replay.warnings, base_zxid, list(recent))


def kept(entries: Iterator[LogEntry], zxid: int, recent: deque[LogEntry]) -> Iterator[LogEntry]:
    """All entries, while those behind `zxid` are put aside too."""
    for entry in entries:
        if entry.zxid > zxid:
            recent.append(entry)
        yield entry


@contextmanager
def garbage_kept() -> Iterator[None]:
    """Let the collector rest: it would walk all nodes again and again, and find them alive."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def newest_snapshot(disk: Disk, directory: str, notes: list[str]) -> Snapshot | None:
    """The newest that can be read; None if there never was one."""
    stored = snapshot_files(disk, directory)
    failure: CorruptSnapshot | None = None
    for file in stored[: -SNAPSHOTS_TRIED - 1 : -1]:
        try:
            snapshot = read_snapshot(disk, file)
        except CorruptSnapshot as error:
            notes.append(f"passed over {error}")
            failure = error
        else:
            notes.append(f"read {file.path}: {len(snapshot.tree)} znodes")
            return snapshot
    # Of a server that never logged anything, only the first snapshot can be lost, and nothing is.
    if failure is not None and stored[-1].zxid > 0:
        raise failure
    return None


def refuse_log_alone(disk: Disk, logs: str, trusts_empty: bool) -> None:
    entry = next(read_log(disk, logs, 0), None)
    if entry is not None and not trusts_empty:
        reason = "there are transactions, but no snapshot that they follow (snapshot.trust.empty)"
        raise MissingSnapshot(entry.path, reason)
