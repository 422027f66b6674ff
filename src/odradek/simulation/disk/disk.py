"""The disk of one simulated process: its way to what the host has stored.

The storage survives the process, the way to it does not: whoever still holds a file or a lock of
a dead process gets `Killed`.
"""

from __future__ import annotations

from collections.abc import Callable

from odradek.runtime.disk import DirectoryLock, Disk, File
from odradek.simulation.disk.device import Operation
from odradek.simulation.disk.directories import Directory
from odradek.simulation.disk.files import SimulatedFile
from odradek.simulation.disk.storage import Storage
from odradek.simulation.errors import Killed

LOCK_NAME = ".lock"


class SimulatedDisk(Disk):
    """Files by path, on a storage that lies. Waiting is counted with `spend_ns`."""

    def __init__(self, storage: Storage, spend_ns: Callable[[int], None]) -> None:
        self.storage = storage
        self.is_dead = False
        self._spend_ns = spend_ns

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
        self.check_alive()
        if create and self.storage.tree.find(path) is None:
            inode = self.storage.create(path)
        else:
            inode = self.storage.tree.file(path)
        return SimulatedFile(self, path, inode, read_only)

    def exists(self, path: str) -> bool:
        self.check_alive()
        return self.storage.tree.find(path) is not None

    def is_directory(self, path: str) -> bool:
        self.check_alive()
        return isinstance(self.storage.tree.find(path), Directory)

    def list_directory(self, path: str) -> list[str]:
        self.check_alive()
        return sorted(self.storage.tree.directory(path).entries)

    def make_directories(self, path: str) -> None:
        self.check_alive()
        self.storage.tree.make_directories(path, self.storage.now_ns)

    def rename(self, source: str, target: str) -> None:
        self.check_alive()
        self.storage.rename(source, target)

    def remove(self, path: str) -> None:
        self.check_alive()
        self.storage.remove(path)

    def sync_directory(self, path: str) -> None:
        self.check_alive()
        self.spend("sync")
        self.storage.sync_directory(path)

    def lock_directory(self, path: str) -> DirectoryLock:
        self.check_alive()
        directory = self.storage.lock(path, self)
        self.open(f"{path}/{LOCK_NAME}", create=True).close()
        return SimulatedLock(self, directory)

    def free_bytes(self, path: str) -> int:
        self.check_alive()
        return self.storage.device.free_bytes

    def total_bytes(self, path: str) -> int:
        self.check_alive()
        return self.storage.device.capacity_bytes

    def modified_ms(self, path: str) -> int:
        self.check_alive()
        return self.storage.tree.file(path).modified_ms

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        self.check_alive()
        self.storage.tree.file(path).modified_ms = modified_ms

    def spend(self, operation: Operation) -> None:
        """Let the time pass that this takes."""
        self._spend_ns(self.storage.device.duration_ns(operation))

    def check_alive(self) -> None:
        if self.is_dead:
            raise Killed("a dead process has no disk")

    def die(self) -> None:
        """Nothing of this process reaches the storage any more, and what it locked is free."""
        self.is_dead = True
        self.storage.unlock_all(self)


class SimulatedLock(DirectoryLock):
    """A directory that one process owns."""

    def __init__(self, owner: SimulatedDisk, directory: Directory) -> None:
        self._owner = owner
        self._directory = directory

    def release(self) -> None:
        """May be called twice, and by the dead: the lock may be another's by then."""
        self._owner.storage.unlock(self._directory, self._owner)
