"""A storage that outlives its processes, and disks whose process may die at any call."""

from __future__ import annotations

from odradek.runtime.disk import Disk
from odradek.simulation.disk.disk import SimulatedDisk
from odradek.simulation.disk.storage import Storage
from tests.simulation.storages import LooseStorage


class MortalDisk(SimulatedDisk):
    """The disk of a process that dies at one of its calls, if that is given."""

    def __init__(self, storage: Storage, calls_max: int | None = None) -> None:
        super().__init__(storage, spend_ns=lambda duration_ns: None)
        self.calls = 0
        self._calls_max = calls_max

    def check_alive(self) -> None:
        self.calls += 1
        if self._calls_max is not None and self.calls > self._calls_max:
            self.die()
        super().check_alive()


def new_disk(seed: int = 0) -> MortalDisk:
    disk = MortalDisk(LooseStorage(seed).storage)
    disk.make_directories("/data")
    disk.sync_directory("/")
    return disk


def get_file(disk: Disk, path: str) -> bytes:
    with disk.open(path, read_only=True) as file:
        return file.pread(0, file.size())


def put_file(disk: Disk, path: str, data: bytes) -> None:
    with disk.open(path, create=True) as file:
        file.truncate(0)
        file.append(data)
        file.sync()
