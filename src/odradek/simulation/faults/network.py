"""Faults of the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from odradek.simulation.faults.fault import OnOne
from odradek.simulation.network.links import Link
from odradek.simulation.world import World


@dataclass(frozen=True, slots=True)
class OneWayCut:
    """One host's packets do not reach another."""

    source: str
    target: str

    @property
    def victims(self) -> tuple[str, ...]:
        return (self.source,)

    def begin(self, world: World) -> None:
        world.network.cut(self.source, self.target)

    def end(self, world: World) -> None:
        world.network.heal(self.source, self.target)


@dataclass(frozen=True, slots=True)
class Partition:
    """Some hosts and all others do not reach each other."""

    victims: tuple[str, ...]

    def begin(self, world: World) -> None:
        for source, target in self._border(world):
            world.network.cut(source, target)

    def end(self, world: World) -> None:
        for source, target in self._border(world):
            world.network.heal(source, target)

    def _border(self, world: World) -> Iterator[tuple[str, str]]:
        for inner in self.victims:
            for outer in world.hosts:
                if outer not in self.victims:
                    yield inner, outer
                    yield outer, inner


@dataclass(frozen=True, slots=True)
class Resets:
    """All connections between two hosts break, once."""

    one: str
    other: str

    @property
    def victims(self) -> tuple[str, ...]:
        return (self.one,)

    def begin(self, world: World) -> None:
        world.network.reset(self.one, self.other)

    def end(self, world: World) -> None:
        """Nothing: they may connect again at once."""


@dataclass(frozen=True, slots=True)
class SlowLinks(OnOne):
    """What a host sends takes long, and little of it gets through."""

    factor: float = 100.0
    bytes_per_second: float = 1e6

    def begin(self, world: World) -> None:
        for link in self._links(world):
            link.slow_down(self.factor, self.bytes_per_second)

    def end(self, world: World) -> None:
        for link in self._links(world):
            link.slow_down(1.0, None)

    def _links(self, world: World) -> Iterator[Link]:
        for other in world.hosts:
            if other != self.victim:
                yield world.network.link(self.victim, other)
