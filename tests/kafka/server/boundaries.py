"""A host that dies at a boundary between two writes: after the one, before the other.

Writes and syncs are counted from the moment that counting begins. The process dies, or the whole
host loses its power, in the midst of the call that would make the next one; a while later it is
started again.
"""

from __future__ import annotations

from odradek.simulation.disk.device import Device, Operation
from odradek.simulation.errors import Killed
from odradek.simulation.hosts import Host

AWAY_S = 0.4


class CountedDevice(Device):
    """A device that counts, and says when it is time."""

    def __init__(self, host: Host, *, power: bool) -> None:
        super().__init__(host.world.stream(f"device of {host.name}"))
        self.count = -1  # Not yet.
        self.deaths = 0
        self._host = host
        self._power = power
        self._at: list[int] = []

    def begin(self, *at: int) -> None:
        """Count from here on, and die at these counts."""
        self.count = 0
        self._at = list(at)

    def check(self, operation: Operation, path: str) -> None:
        super().check(operation, path)
        if self.count < 0 or operation == "read":
            return
        self.count += 1
        if self.count in self._at:
            self._die()

    def _die(self) -> None:
        self.deaths += 1
        if self._power:
            self._host.power_off()
        else:
            self._host.kill()
        self._host.world.after(AWAY_S, self._host.start_again)
        raise Killed("between two writes")


def counted(host: Host, *, power: bool) -> CountedDevice:
    """Have the device of a host that has not started yet counted."""
    device = host.storage.device = CountedDevice(host, power=power)
    return device
