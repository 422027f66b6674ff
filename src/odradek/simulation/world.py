"""A world: hosts, a network and time, all from one seed.

Use it as a context. Inside it the garbage collector runs only at turns that the world chooses,
so that what finalizers do is part of what the seed reproduces.

    with World(seed=7) as world:
        world.host("a").start(server)
        answer = world.run_to_end(world.host("b").start(ask))
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, Self

from odradek.simulation.errors import Deadlock, NodeFailed, OutOfTime
from odradek.simulation.hosts import Host
from odradek.simulation.network.links import Conditions
from odradek.simulation.network.network import Network
from odradek.simulation.processes import Main, Process
from odradek.simulation.schedule import SECOND_NS, Moment, Schedule
from odradek.simulation.trace import Trace


class World:
    """Everything there is. Equal seeds and equal code lead to equal traces."""

    def __init__(self, seed: int = 0, *, is_traced: bool = False) -> None:
        self.seed = seed
        self.schedule = Schedule(self.stream("schedule"))
        self.trace = Trace(self.schedule, is_traced)
        self.network = Network(Conditions(self.schedule, self.stream("network"), self.trace))
        self.hosts: dict[str, Host] = {}
        self.narration: list[str] = []
        self._failure: NodeFailed | None = None
        self._collects_by_itself = False

    def __enter__(self) -> Self:
        self._collects_by_itself = gc.isenabled()
        gc.disable()
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()
        if self._collects_by_itself:
            gc.enable()

    def stream(self, purpose: str) -> Random:
        """Chance for one purpose, so that more draws for one change nothing for another."""
        return Random(f"{self.seed}: {purpose}")

    def host(self, name: str) -> Host:
        """The host of this name; a new one at its first mention."""
        if name not in self.hosts:
            self.hosts[name] = Host(self, name)
        return self.hosts[name]

    @property
    def now_s(self) -> float:
        """Seconds since the world began."""
        return self.schedule.now_ns / SECOND_NS

    def after(self, seconds: float, action: Callable[[], object]) -> Moment:
        """Have something happen to the world, in so many seconds."""
        return self.schedule.after(int(seconds * SECOND_NS), action)

    def narrate(self, text: str) -> None:
        """Add a line to the story that is told of this world."""
        self.narration.append(text)
        self.trace.note(f'"{text}"')

    def fail(self, message: str, cause: object) -> None:
        """Have whoever runs the world hear that a node's code failed."""
        if self._failure is None:
            self._failure = NodeFailed(message)
            self._failure.__cause__ = cause if isinstance(cause, BaseException) else None

    def run_until(self, condition: Callable[[], object], limit_s: float = 3600.0) -> None:
        """Let things happen until the condition holds."""
        limit_ns = self.schedule.now_ns + int(limit_s * SECOND_NS)
        with self._running():
            while not condition():
                if not self.schedule.step(limit_ns):
                    raise self._explain(limit_s)
                self._raise_failure()

    def run_to_end(self, process: Process, limit_s: float = 3600.0) -> Any:
        """Let things happen until a process has ended; return what its main returned."""
        self.run_until(lambda: process.is_dead, limit_s)
        return process.result

    def run_for(self, seconds: float) -> None:
        """Let this much virtual time pass."""
        end_ns = self.schedule.now_ns + int(seconds * SECOND_NS)
        with self._running():
            while self.schedule.step(end_ns):
                if self._failure is not None:
                    self._raise_failure()
        self.schedule.pass_time(end_ns)

    def settle(self, quiet_s: float = 10.0, limit_s: float = 600.0) -> None:
        """Run until there has been nothing to tell for a while."""
        limit_ns = self.schedule.now_ns + int(limit_s * SECOND_NS)
        told = -1
        while told != len(self.narration) and not self.schedule.is_idle:
            if self.schedule.now_ns > limit_ns:
                raise OutOfTime(f"after {limit_s:g} s there is still something to tell")
            told = len(self.narration)
            self.run_for(quiet_s)

    def close(self) -> None:
        """End all processes."""
        with self._running():
            for host in self.hosts.values():
                host.end("ends with its world")

    @contextmanager
    def _running(self) -> Iterator[None]:
        hooks = sys.get_asyncgen_hooks()
        try:
            yield
        finally:
            sys.set_asyncgen_hooks(*hooks)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _explain(self, limit_s: float) -> Exception:
        waiting = "\n".join(line for host in self.hosts.values() for line in host.describe())
        if self.schedule.is_idle:
            return Deadlock(f"nothing will ever happen again\n{waiting}")
        return OutOfTime(f"not within {limit_s:g} virtual seconds\n{waiting}")


def run(main: Main, seed: int = 0) -> Any:
    """Run one node in a world of its own, as `asyncio.run` would; return what its main returns."""
    with World(seed) as world:
        return world.run_to_end(world.host("node").start(main))
