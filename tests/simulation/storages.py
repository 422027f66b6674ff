"""A storage and its disks, without the world around them."""

from __future__ import annotations

from random import Random

from odradek.runtime.disk import Disk
from odradek.simulation.clocks import HostClock
from odradek.simulation.disk.disk import SimulatedDisk
from odradek.simulation.disk.storage import Storage
from odradek.simulation.schedule import SECOND_NS, Schedule
from odradek.simulation.trace import Trace


class LooseStorage:
    """A storage whose power and time are in the hands of a test."""

    def __init__(self, seed: int = 0) -> None:
        self._schedule = Schedule(Random(seed))
        clock = HostClock(self._schedule, boot_s=0)
        trace = Trace(self._schedule, is_on=False)
        self.storage = Storage("host", self._schedule, clock, trace, Random(seed))
        self.spent_ns: list[int] = []

    def disk(self) -> SimulatedDisk:
        """The disk of a new process."""
        return SimulatedDisk(self.storage, self.spent_ns.append)

    def lose_power(self) -> SimulatedDisk:
        """Crash, and start again."""
        self.storage.crash()
        return self.disk()

    def wait(self, seconds: float) -> None:
        self._schedule.pass_time(self._schedule.now_ns + int(seconds * SECOND_NS))


def content(disk: Disk, path: str = "/file") -> bytes:
    with disk.open(path) as file:
        return file.pread(0, file.size())


def make_file(disk: Disk, data: bytes) -> None:
    """A file that is there to stay."""
    with disk.open("/file", create=True) as file:
        file.append(data)
        file.sync()
    disk.sync_directory("/")
