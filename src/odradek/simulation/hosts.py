"""Hosts: machines with an address, clocks and a disk, on which one process runs at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.simulation.clocks import HostClock
from odradek.simulation.disk.storage import Storage
from odradek.simulation.processes import Deaths, Main, Process

if TYPE_CHECKING:
    from odradek.simulation.world import World

BOOT_S_MAX = 1_000_000


class Host:
    """A machine. What it has stored survives its processes; only power takes from that."""

    def __init__(self, world: World, name: str) -> None:
        random = world.stream(f"host {name}")
        self.world = world
        self.name = name
        self.schedule = world.schedule
        self.trace = world.trace
        self.network = world.network
        self.interface = world.network.attach(name)
        self.clock = HostClock(world.schedule, random.randrange(BOOT_S_MAX))
        self.storage = Storage(name, self.schedule, self.clock, self.trace, random)
        self.process: Process | None = None
        self._main: Main | None = None
        self._may_die_of: Deaths = ()
        self._lives = 0

    @property
    def is_running(self) -> bool:
        return self.process is not None and not self.process.is_dead

    def start(self, main: Main | None = None, may_die_of: Deaths = ()) -> Process:
        """Start a process, by default the one of last time; switch the power on, if it is off.

        An error that a process `may_die_of` ends it. Any other fails the world.
        """
        assert not self.is_running, f"{self.name} is running already"
        if main is not None:
            self._main, self._may_die_of = main, may_die_of
        assert self._main is not None, f"nobody ever said what {self.name} should run"
        if not self.interface.is_up:
            self.network.power_on(self.interface)
        self._lives += 1
        self.trace.note(f"{self.name} starts")
        life = f"life {self._lives} of {self.name}"
        self.process = Process(self, self._main, self._may_die_of, life)
        return self.process

    def start_again(self) -> None:
        """Start it as last time, unless it runs already."""
        if not self.is_running:
            self.start()

    def kill(self) -> None:
        """Kill the process at once, as SIGKILL does: the kernel closes its connections."""
        self.end("is killed")

    def terminate(self) -> None:
        """Send the process SIGTERM. One that does not handle it dies of it."""
        if self.process is not None and self.is_running and not self.process.terminate():
            self.end("is terminated")

    def power_off(self) -> None:
        """Take the power away: nobody hears of it, and what was not synced may be lost."""
        self.trace.note(f"{self.name} loses power")
        self.interface.vanish()
        if self.process is not None and self.is_running:
            self.process.die()
        self.storage.crash()

    def pause(self) -> None:
        if self.process is not None:
            self.trace.note(f"{self.name} is paused")
            self.process.pause()

    def resume(self) -> None:
        if self.process is not None:
            self.trace.note(f"{self.name} is resumed")
            self.process.resume()

    def end(self, how: str) -> None:
        """End the process, if there is one."""
        if self.process is not None and self.is_running:
            self.trace.note(f"{self.name} {how}")
            self.interface.close()
            self.process.die()

    def describe(self) -> Iterator[str]:
        """What each task of the process waits for, for whoever wonders."""
        if self.process is None or not self.is_running:
            yield f"{self.name} is not running"
            return
        if self.process.is_paused:
            yield f"{self.name} is paused"
        for task in self.process.loop.pending_tasks():
            yield f"{self.name} waits: {task.where()}"
