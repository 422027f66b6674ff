"""Simulated disks: they lose what was not synced, and their process may die at any call."""

from __future__ import annotations

from random import Random

from odradek.simulation.clocks import HostClock
from odradek.simulation.disk.disk import SimulatedDisk
from odradek.simulation.disk.storage import Storage
from odradek.simulation.schedule import Schedule
from odradek.simulation.trace import Trace


def new_storage(seed: int = 0) -> Storage:
    schedule = Schedule(Random(seed))
    clock, trace = HostClock(schedule, boot_s=0), Trace(schedule, is_on=False)
    return Storage("host", schedule, clock, trace, Random(seed))


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
    disk = MortalDisk(new_storage(seed))
    disk.make_directories("/data")
    return disk


def put_file(disk: SimulatedDisk, path: str, data: bytes) -> None:
    """Have a file with these bytes, durably."""
    with disk.open(path, create=True) as file:
        file.truncate(0)
        file.write(0, data)
        file.sync()


def get_file(disk: SimulatedDisk, path: str) -> bytes:
    with disk.open(path, read_only=True) as file:
        return file.pread(0, file.size())
