"""Faults of disks."""

from __future__ import annotations

from dataclasses import dataclass

from odradek.simulation.disk.device import Operation
from odradek.simulation.faults.fault import OnOne
from odradek.simulation.world import World


@dataclass(frozen=True, slots=True)
class SlowDisk(OnOne):
    """Every sync takes long."""

    factor: float = 1000.0

    def begin(self, world: World) -> None:
        world.host(self.victim).storage.device.slowness = self.factor

    def end(self, world: World) -> None:
        world.host(self.victim).storage.device.slowness = 1.0


@dataclass(frozen=True, slots=True)
class FullDisk(OnOne):
    """There is no room left. A node that stopped over it is started again at the end."""

    def begin(self, world: World) -> None:
        world.host(self.victim).storage.device.fill()

    def end(self, world: World) -> None:
        world.host(self.victim).storage.device.repair()
        world.host(self.victim).start_again()


@dataclass(frozen=True, slots=True)
class BrokenDisk(OnOne):
    """The next operation of a kind fails. A node that stopped over it is started again."""

    operation: Operation = "sync"

    def begin(self, world: World) -> None:
        world.host(self.victim).storage.device.fail(self.operation)

    def end(self, world: World) -> None:
        world.host(self.victim).storage.device.repair()
        world.host(self.victim).start_again()


@dataclass(frozen=True, slots=True)
class FlippedBit(OnOne):
    """One bit of a file is not what it was."""

    path: str

    def begin(self, world: World) -> None:
        world.host(self.victim).storage.flip_bit(self.path)

    def end(self, world: World) -> None:
        """Nothing: nobody knows which it was."""
