"""A snapshot file: unseen until it is whole, then durable.

It is written under a name that nobody takes for a snapshot, synced, renamed, and its directory
synced. It is synced as it grows, too: at the end little is left to sync, and the log of a member
waits for that end.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import adler32

from odradek.runtime.disk import Disk, DiskError, File
from odradek.zookeeper.state.sheets import Kept
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.checksums import joined
from odradek.zookeeper.storage.compression import compressor
from odradek.zookeeper.storage.names import snapshot_name
from odradek.zookeeper.storage.snapshot_slices import ALL_PARTS, SnapshotFormat, snapshot_slices

UNFINISHED = "unfinished."
COPY_BYTES = 1024 * 1024  # What is copied at once.
SYNC_BYTES = 2 * 1024 * 1024


class NotAsWritten(DiskError):
    """An earlier snapshot does not hold, or no longer, what was written to it."""


class SnapshotFile:
    """A snapshot being written. All methods block, and belong to one thread at a time."""

    def __init__(self, disk: Disk, directory: str, zxid: int, compression: str = "") -> None:
        name = snapshot_name(zxid, compression)
        self.path = f"{directory}/{name}"
        self._disk = disk
        self._directory = directory
        self._unfinished = f"{directory}/{UNFINISHED}{name}"
        self._compressor = compressor(compression)
        self._file = disk.open(self._unfinished, create=True)
        self._file.truncate(0)
        self._unsynced_bytes = 0

    def write(self, chunk: bytes) -> None:
        self._append(self._compressor.compress(chunk))

    def copy(self, sheets: list[Kept]) -> None:
        """Take over sheets of one earlier snapshot, or raise `NotAsWritten`."""
        path = sheets[0].path
        try:
            earlier = self._disk.open(path, read_only=True)
        except (DiskError, OSError) as error:
            raise NotAsWritten(path, f"it cannot be opened: {error}") from error
        with earlier:
            for kept in joined(sheets):
                self._copy(earlier, kept)

    def _copy(self, earlier: File, kept: Kept) -> None:
        checksum = adler32(b"")
        end = kept.position + kept.size
        for position in range(kept.position, end, COPY_BYTES):
            data = read_again(earlier, position, min(COPY_BYTES, end - position))
            checksum = adler32(data, checksum)
            self.write(data)
        if checksum != kept.checksum:
            raise NotAsWritten(earlier.path, f"the bytes from {kept.position} to {end} are others")

    def finish(self) -> None:
        """Make it the snapshot. The log must be synced as far as the tree was applied."""
        self._append(self._compressor.flush())
        self._file.sync()
        self._file.close()
        self._disk.rename(self._unfinished, self.path)
        self._disk.sync_directory(self._directory)

    def abandon(self) -> None:
        """Leave nothing behind, after a failure or at the end of the server."""
        self._file.close()
        if self._disk.exists(self._unfinished):
            self._disk.remove(self._unfinished)

    def _append(self, data: bytes) -> None:
        if data:
            self._file.append(data)
            self._unsynced_bytes += len(data)
        if self._unsynced_bytes >= SYNC_BYTES:
            self._file.sync()
            self._unsynced_bytes = 0


def read_again(earlier: File, position: int, count: int) -> bytes:
    """What was written there. That it cannot be read must not stop the snapshots that follow."""
    try:
        return earlier.pread(position, count)
    except DiskError as error:
        raise NotAsWritten(earlier.path, f"it cannot be read: {error.reason}") from error


def write_snapshot(
    disk: Disk,
    directory: str,
    tree: Tree,
    timeouts: Mapping[int, int],
    parts: SnapshotFormat = ALL_PARTS,
    compression: str = "",
) -> str:
    """Write a whole snapshot of a tree that nobody changes meanwhile; return its path."""
    slices = snapshot_slices(tree, timeouts, parts)
    file = SnapshotFile(disk, directory, tree.last_zxid, compression)
    try:
        for chunk in slices:
            file.write(chunk)
        file.finish()
    except (DiskError, OSError):
        file.abandon()
        raise
    return file.path


def remove_unfinished(disk: Disk, directory: str) -> list[str]:
    """Remove the snapshots that a crash left half written; return their paths."""
    names = [name for name in disk.list_directory(directory) if name.startswith(UNFINISHED)]
    paths = [f"{directory}/{name}" for name in names]
    for path in paths:
        disk.remove(path)
    return paths
