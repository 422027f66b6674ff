"""The stage on which a story is played: its public methods are the verbs.

These are the verbs of every world. A stage of real nodes adds its own:

    class Ensemble(Stage):
        def write(self, path: str, data: bytes = b"") -> None: ...

The words of a command become arguments as the annotations say (`str`, `bytes`, `int`, `float`).
A keyword-only parameter is given by its name: `ensemble 3, leader 1`.
"""

from __future__ import annotations

from odradek.simulation.errors import StoryError
from odradek.simulation.faults.fault import Fault
from odradek.simulation.faults.network import OneWayCut, Partition
from odradek.simulation.hosts import Host
from odradek.simulation.world import World


class Stage:
    """A world, and what a story can do to it."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def narration(self) -> list[str]:
        """What was told so far."""
        return self._world.narration

    def cut(self, *words: str) -> None:
        """`cut 3, 4` off from all others, `cut 1 from 2`, or one way only: `cut 1 to 2`."""
        for fault in self._cuts(words):
            fault.begin(self._world)

    def heal(self, *words: str) -> None:
        """Undo a cut, given in the same words; all of them without any."""
        if not words:
            self._world.network.heal_all()
        for fault in self._cuts(words):
            fault.end(self._world)

    def start(self, *hosts: str) -> None:
        for host in hosts:
            self._host(host).start()

    def kill(self, *hosts: str) -> None:
        for host in hosts:
            self._host(host).kill()

    def terminate(self, *hosts: str) -> None:
        for host in hosts:
            self._host(host).terminate()

    def power_off(self, *hosts: str) -> None:
        for host in hosts:
            self._host(host).power_off()

    def pause(self, *hosts: str) -> None:
        for host in hosts:
            self._host(host).pause()

    def resume(self, *hosts: str) -> None:
        for host in hosts:
            self._host(host).resume()

    def fill(self, *hosts: str) -> None:
        """Leave no room on a host's disk."""
        for host in hosts:
            self._host(host).storage.device.fill()

    def repair(self, *hosts: str) -> None:
        """Have a host's disk be fast, roomy and sound again."""
        for host in hosts:
            self._host(host).storage.device.repair()

    def set_clock(self, host: str, seconds: float) -> None:
        """Set a host's wall clock forward, or back if negative."""
        self._host(host).clock.set_wall_forward(seconds)

    def wait(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._world.run_for(seconds)

    def settle(self) -> None:
        """Let time pass until nothing more is told."""
        self._world.settle()

    def _host(self, name: str) -> Host:
        """A host that is there already: a slip of the pen makes no new one."""
        if name not in self._world.hosts:
            raise StoryError(f"there is no host {name}, but {', '.join(self._world.hosts)}")
        return self._world.hosts[name]

    def _cuts(self, words: tuple[str, ...]) -> list[Fault]:
        match words:
            case ():
                return []
            case (one, "to", other):
                return [OneWayCut(self._host(one).name, self._host(other).name)]
            case (one, "from", other):
                return [*self._cuts((one, "to", other)), *self._cuts((other, "to", one))]
            case hosts:
                return [Partition(tuple(self._host(host).name for host in hosts))]
