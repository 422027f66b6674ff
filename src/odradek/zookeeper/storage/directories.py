"""The directories of a server: `version-2` below `dataDir` and `dataLogDir`.

One server at a time: each directory is locked while it is in use. Where the two differ, a log
among the snapshots or a snapshot among the logs means that the settings were swapped or changed;
starting then would look like a loss of data.
"""

from __future__ import annotations

from dataclasses import dataclass

from odradek.runtime.disk import DirectoryLock, Disk
from odradek.runtime.durable import make_durable_directories
from odradek.zookeeper.storage.errors import MisplacedFiles
from odradek.zookeeper.storage.names import StoredFile, log_files, snapshot_files

VERSION = "version-2"


@dataclass(frozen=True, slots=True)
class Directories:
    """Where snapshots and logs are, both owned by this process until `release`."""

    snapshots: str
    logs: str
    locks: tuple[DirectoryLock, ...]

    @classmethod
    def open(cls, disk: Disk, data_directory: str, log_directory: str | None = None) -> Directories:
        """Make them if need be, and own them, or raise `DirectoryLocked`."""
        snapshots = f"{data_directory}/{VERSION}"
        logs = f"{log_directory or data_directory}/{VERSION}"
        locks: list[DirectoryLock] = []
        try:
            for path in dict.fromkeys((snapshots, logs)):
                make_durable_directories(disk, path)
                locks.append(disk.lock_directory(path))
            if snapshots != logs:
                refuse_misplaced(log_files(disk, snapshots), "logs", "dataDir")
                refuse_misplaced(snapshot_files(disk, logs), "snapshots", "dataLogDir")
        except BaseException:
            release_all(locks)
            raise
        return cls(snapshots, logs, tuple(locks))

    def release(self) -> None:
        release_all(self.locks)


def refuse_misplaced(files: list[StoredFile], kind: str, setting: str) -> None:
    if files:
        raise MisplacedFiles(files[0].path, f"{kind} in {setting}: is dataLogDir what it was?")


def release_all(locks: list[DirectoryLock] | tuple[DirectoryLock, ...]) -> None:
    for lock in locks:
        lock.release()
