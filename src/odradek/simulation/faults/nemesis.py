"""The nemesis: draws faults over time, within limits, and takes every one of them back.

At no time are more hosts victims than the limit says, and no host is the victim of two faults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random

from odradek.simulation.faults import disk, host, network
from odradek.simulation.faults.fault import Fault
from odradek.simulation.schedule import Moment
from odradek.simulation.world import World

# Draws a fault to the first of these hosts, which are in random order.
Draw = Callable[[Random, Sequence[str]], Fault]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much evil is enough."""

    victims_max: int = 1
    pause_s: tuple[float, float] = (0.5, 10.0)  # From one fault to the next.
    duration_s: tuple[float, float] = (0.1, 20.0)


def one_way_cut(random: Random, hosts: Sequence[str]) -> Fault:
    return network.OneWayCut(hosts[0], hosts[1])


def partition(random: Random, hosts: Sequence[str]) -> Fault:
    return network.Partition((hosts[0],))


def resets(random: Random, hosts: Sequence[str]) -> Fault:
    return network.Resets(hosts[0], hosts[1])


def slow_links(random: Random, hosts: Sequence[str]) -> Fault:
    return network.SlowLinks(hosts[0], factor=10 ** random.uniform(1, 4))


def pause(random: Random, hosts: Sequence[str]) -> Fault:
    return host.Pause(hosts[0])


def kill(random: Random, hosts: Sequence[str]) -> Fault:
    return host.Kill(hosts[0])


def power_loss(random: Random, hosts: Sequence[str]) -> Fault:
    return host.PowerLoss(hosts[0])


def slow_disk(random: Random, hosts: Sequence[str]) -> Fault:
    return disk.SlowDisk(hosts[0], factor=10 ** random.uniform(1, 4))


def full_disk(random: Random, hosts: Sequence[str]) -> Fault:
    return disk.FullDisk(hosts[0])


def broken_sync(random: Random, hosts: Sequence[str]) -> Fault:
    return disk.BrokenDisk(hosts[0], "sync")


def wrong_time(random: Random, hosts: Sequence[str]) -> Fault:
    return host.WrongTime(hosts[0], random.uniform(-3600, 3600))


def drift(random: Random, hosts: Sequence[str]) -> Fault:
    return host.Drift(hosts[0], random.uniform(0.9, 1.1))


# What any node must survive. A full or broken disk stops one, so these are for those who ask.
GENTLE: tuple[Draw, ...] = (
    one_way_cut,
    partition,
    resets,
    slow_links,
    pause,
    kill,
    power_loss,
    slow_disk,
    wrong_time,
    drift,
)


class Nemesis:
    """Haunts the hosts of a world from its start until it is told to stop."""

    def __init__(
        self,
        world: World,
        hosts: Sequence[str],
        draws: Sequence[Draw] = GENTLE,
        limits: Limits = Limits(),  # noqa: B008 - It is frozen.
    ) -> None:
        self._world = world
        self._hosts = list(hosts)
        self._draws = list(draws)
        self._limits = limits
        self._random = world.stream("nemesis")
        self._current: dict[Fault, Moment] = {}
        self._next: Moment | None = None

    def start(self) -> None:
        self._next = self._world.after(self._random.uniform(*self._limits.pause_s), self._strike)

    def stop(self) -> None:
        """Do nothing more, and end what was begun."""
        if self._next is not None:
            self._next.cancel()
        for fault in list(self._current):
            self._end(fault)

    def _strike(self) -> None:
        self.start()
        haunted = [victim for fault in self._current for victim in fault.victims]
        free = [host for host in self._hosts if host not in haunted]
        if len(haunted) >= self._limits.victims_max or len(free) < 2:
            return
        self._random.shuffle(free)
        fault = self._random.choice(self._draws)(self._random, free)
        self._begin(fault)

    def _begin(self, fault: Fault) -> None:
        self._world.trace.note(f"nemesis begins {fault}")
        fault.begin(self._world)
        duration_s = self._random.uniform(*self._limits.duration_s)
        self._current[fault] = self._world.after(duration_s, partial(self._end, fault))

    def _end(self, fault: Fault) -> None:
        self._world.trace.note(f"nemesis ends {fault}")
        self._current.pop(fault).cancel()
        fault.end(self._world)
