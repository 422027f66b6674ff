"""Old files, removed: the newest snapshots stay, and the log from the oldest of these on."""

from __future__ import annotations

from odradek.runtime.disk import Disk
from odradek.zookeeper.storage.compression import GZIP_MAGIC, XERIAL_MAGIC, method_of
from odradek.zookeeper.storage.names import StoredFile, log_files, logs_from, snapshot_files
from odradek.zookeeper.storage.snapshot_slices import HEADER, MARK

RETAIN_COUNT_MIN = 3


def purge(disk: Disk, snapshots: str, logs: str, retain_count: int) -> list[str]:
    """Keep so many snapshots, three at the least; return the paths that were removed.

    A snapshot counts if it seems whole. Its log may begin in a file that is older than itself.
    """
    stored = snapshot_files(disk, snapshots)
    whole = [file for file in stored if seems_whole(disk, file)]
    kept = whole[-max(retain_count, RETAIN_COUNT_MIN) :]
    if not kept:
        return []
    oldest_zxid = kept[0].zxid
    old_snapshots = [file for file in stored if file.zxid < oldest_zxid]
    all_logs = log_files(disk, logs)
    kept_logs = logs_from(all_logs, oldest_zxid)
    old_logs = all_logs[: len(all_logs) - len(kept_logs)]
    # Snapshots go first: one whose log is gone must not be there to recover from.
    return remove_all(disk, snapshots, old_snapshots) + remove_all(disk, logs, old_logs)


def remove_all(disk: Disk, directory: str, files: list[StoredFile]) -> list[str]:
    for file in files:
        disk.remove(file.path)
    if files:
        disk.sync_directory(directory)
    return [file.path for file in files]


def seems_whole(disk: Disk, stored: StoredFile) -> bool:
    """Whether a snapshot looks complete, at a glance: by its end, or as a stream by its start."""
    method = method_of(stored.path)
    with disk.open(stored.path, read_only=True) as file:
        if method:
            magic = GZIP_MAGIC if method == "gz" else XERIAL_MAGIC
            return file.pread(0, len(magic)) == magic
        size = file.size()
        return size > len(HEADER) and file.pread(size - len(MARK), len(MARK)) == MARK
