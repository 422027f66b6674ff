"""What a fault is.

It is done to some hosts, its victims. `end` undoes it as far as that is possible: power comes
back, what was lost with it does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from odradek.simulation.world import World


class Fault(Protocol):
    """Something bad that ends."""

    @property
    def victims(self) -> tuple[str, ...]: ...

    def begin(self, world: World) -> None: ...

    def end(self, world: World) -> None: ...


@dataclass(frozen=True, slots=True)
class OnOne:
    """A fault that is done to one host."""

    victim: str

    @property
    def victims(self) -> tuple[str, ...]:
        return (self.victim,)
