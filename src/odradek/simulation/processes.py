"""Processes: one life of a node on its host, from its start to its end or its death."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from random import Random
from signal import SIGTERM
from typing import TYPE_CHECKING, Any

from odradek.runtime.disk import Disk
from odradek.simulation.disk.disk import SimulatedDisk
from odradek.simulation.loop.node import NodeLoop

if TYPE_CHECKING:
    from odradek.simulation.hosts import Host


@dataclass(frozen=True, slots=True)
class Environment:
    """What a node is given of its world, besides the running loop."""

    name: str
    address: str
    disk: Disk
    random: Random
    narrate: Callable[[str], None]


Main = Callable[[Environment], Coroutine[Any, Any, object]]
Deaths = tuple[type[BaseException], ...]


class Process:
    """A running node. When its main returns, the rest of its tasks is cancelled and it ends."""

    def __init__(self, host: Host, main: Main, may_die_of: Deaths, life: str) -> None:
        self.result: object = None
        self.is_dead = False
        self.is_paused = False
        self._host = host
        self._may_die_of = may_die_of
        self.loop = NodeLoop(host, host.world.stream(f"{life} threads"), self._hear_failure)
        self.disk = SimulatedDisk(host.storage, self.loop.spend)
        random = host.world.stream(f"{life} node")
        environment = Environment(
            host.name, host.interface.address, self.disk, random, self._narrate
        )
        # Kept, because asyncio itself holds no task that waits.
        self._task = self.loop.create_task(self._live(main, environment), name=f"{host.name} main")
        self._task.add_done_callback(self._end)

    def pause(self) -> None:
        """Stop it as SIGSTOP does: its sockets and its disk stay, its code stands still."""
        if not self.is_paused:
            self.is_paused = True
            self.loop.hold()
            self.loop.threads.pause()

    def resume(self) -> None:
        if self.is_paused and not self.is_dead:
            self.is_paused = False
            self.loop.release()
            self.loop.threads.resume()

    def terminate(self) -> bool:
        """Send SIGTERM; False if the node does not handle it."""
        return self.loop.signal(SIGTERM)

    def die(self) -> None:
        """Take everything away, so that no code of it can do anything, then unwind that code."""
        self.is_dead = True
        self.disk.die()
        self.loop.die()

    async def _live(self, main: Main, environment: Environment) -> None:
        self.result = await main(environment)
        rest = [task for task in self.loop.pending_tasks() if task is not asyncio.current_task()]
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _end(self, task: asyncio.Task[None]) -> None:
        if self.is_dead:
            return
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._hear_failure({"message": "its main failed", "exception": error})
        self._host.end("ends" if error is None else "fails")

    def _hear_failure(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, self._may_die_of):
            self._host.end(f"dies of {error!r}")
        else:
            self._host.world.fail(f"{self._host.name}: {context.get('message')}: {error!r}", error)

    def _narrate(self, text: str) -> None:
        if not self.is_dead:
            self._host.world.narrate(f"{self._host.name} {text}")
