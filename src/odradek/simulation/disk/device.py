"""What a host's device can do: its room, its speed, and the failures that wait in it."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from random import Random
from typing import Literal

from odradek.runtime.disk import DiskBroken, DiskFull
from odradek.simulation.schedule import SECOND_NS

Operation = Literal["read", "write", "sync"]

ROOMY_BYTES = 1 << 40
DURATIONS_S: dict[Operation, tuple[float, float]] = {
    "read": (0.1e-3, 1e-3),
    "write": (0.0, 0.0),  # Into memory: no time that would be worth counting.
    "sync": (0.2e-3, 2e-3),
}


@dataclass(slots=True)
class Trouble:
    """An operation that will fail so many times more, under a path."""

    operation: Operation
    under: str
    count: int

    def strikes(self, operation: Operation, path: str) -> bool:
        return self.count > 0 and operation == self.operation and path.startswith(self.under)


class Device:
    """A device that may be slow, full or broken."""

    def __init__(self, random: Random) -> None:
        self.capacity_bytes = ROOMY_BYTES
        self.used_bytes = 0
        self.slowness = 1.0
        self._random = random
        self._troubles: list[Trouble] = []

    @property
    def free_bytes(self) -> int:
        return max(0, self.capacity_bytes - self.used_bytes)

    def take_room(self, path: str, count: int) -> None:
        """Use so many bytes more, or fewer if negative."""
        if count > self.free_bytes:
            raise DiskFull(path, os.strerror(errno.ENOSPC))
        self.used_bytes += count

    def check(self, operation: Operation, path: str) -> None:
        """Fail, if it is time to."""
        for trouble in self._troubles:
            if trouble.strikes(operation, path):
                trouble.count -= 1
                raise DiskBroken(path, os.strerror(errno.EIO))

    def duration_ns(self, operation: Operation) -> int:
        least_s, most_s = DURATIONS_S[operation]
        duration_s = least_s + (most_s - least_s) * self._random.random()
        return int(self.slowness * duration_s * SECOND_NS)

    def fill(self) -> None:
        """Leave no room."""
        self.capacity_bytes = self.used_bytes

    def fail(self, operation: Operation, count: int = 1, under: str = "/") -> None:
        """Let the next operations of this kind fail."""
        self._troubles.append(Trouble(operation, under, count))

    def repair(self) -> None:
        """Be fast, roomy and sound again. What was lost stays lost."""
        self.capacity_bytes = ROOMY_BYTES
        self.slowness = 1.0
        self._troubles.clear()
