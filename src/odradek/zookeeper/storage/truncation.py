"""A server that goes back: it logged what never committed, and its leader has another history.

Snapshots go first. If the power fails before the log is cut, the same state is recovered again
from an older one, and the leader will ask again.
"""

from __future__ import annotations

from odradek.runtime.disk import Disk
from odradek.zookeeper.storage.errors import StorageError
from odradek.zookeeper.storage.log_reader import read_log, truncate_log
from odradek.zookeeper.storage.names import StoredFile, log_files, snapshot_files
from odradek.zookeeper.storage.purge import remove_all


def go_back(disk: Disk, snapshots: str, logs: str, zxid: int) -> None:
    """Forget all behind `zxid`; a snapshot must be left to go back to."""
    newer = newer_first(snapshot_files(disk, snapshots), zxid)
    if len(newer) == len(snapshot_files(disk, snapshots)):
        raise StorageError(snapshots, f"no snapshot is old enough to go back to {zxid:#x}")
    remove_all(disk, snapshots, newer)
    first = next(read_log(disk, logs, zxid), None)
    if first is not None and first.zxid <= zxid:
        truncate_log(disk, logs, zxid)
    else:
        # The newest goes first: were it left without the one before it, the log had a gap.
        for file in newer_first(log_files(disk, logs), zxid):
            remove_all(disk, logs, [file])


def newer_first(files: list[StoredFile], zxid: int) -> list[StoredFile]:
    """Those named after a later zxid, the newest first."""
    return [file for file in reversed(files) if file.zxid > zxid]
