"""Faults of processes, of power and of clocks."""

from __future__ import annotations

from dataclasses import dataclass

from odradek.simulation.faults.fault import OnOne
from odradek.simulation.world import World


@dataclass(frozen=True, slots=True)
class Pause(OnOne):
    """A process stands still, and finds all its timers overdue when it goes on."""

    def begin(self, world: World) -> None:
        world.host(self.victim).pause()

    def end(self, world: World) -> None:
        world.host(self.victim).resume()


@dataclass(frozen=True, slots=True)
class Kill(OnOne):
    """A process dies, and is started again."""

    def begin(self, world: World) -> None:
        world.host(self.victim).kill()

    def end(self, world: World) -> None:
        world.host(self.victim).start_again()


@dataclass(frozen=True, slots=True)
class PowerLoss(OnOne):
    """A host loses its power, and gets it back."""

    def begin(self, world: World) -> None:
        world.host(self.victim).power_off()

    def end(self, world: World) -> None:
        world.host(self.victim).start_again()


@dataclass(frozen=True, slots=True)
class WrongTime(OnOne):
    """The wall clock is set wrong, then right again."""

    seconds: float

    def begin(self, world: World) -> None:
        world.host(self.victim).clock.set_wall_forward(self.seconds)

    def end(self, world: World) -> None:
        world.host(self.victim).clock.set_wall_forward(-self.seconds)


@dataclass(frozen=True, slots=True)
class Drift(OnOne):
    """Both clocks run too fast or too slow."""

    rate: float

    def begin(self, world: World) -> None:
        world.host(self.victim).clock.run_at(self.rate)

    def end(self, world: World) -> None:
        world.host(self.victim).clock.run_at(1.0)
