"""The threads of one process: a call takes effect at one moment, and returns at a later one.

Between the two lies what the call costs, so a slow sync does not stop the loop, and a crash can
come after the effect and before anyone heard of it. Calls of the default executor overtake each
other, as threads do; an executor of one's own is taken to have one thread, and keeps the order.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from odradek.simulation.errors import Killed
from odradek.simulation.loop.virtual import VirtualLoop
from odradek.simulation.schedule import Schedule

START_NS_MAX = 100_000


@dataclass(slots=True)
class Job:
    """A call, and the future that waits for it."""

    call: Callable[[], Any]
    result: asyncio.Future[Any]
    lane: deque[Job] | None  # What the same single thread has yet to do, this job first.


class OffLoop:
    """Stands for the running loop in a thread, where there is none but still a wall clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.wall_clock_ms = loop.wall_clock_ms

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no running event loop")


class Threads:
    """What `run_in_executor` runs on."""

    def __init__(self, loop: VirtualLoop, schedule: Schedule, random: Random) -> None:
        self._loop = loop
        self._schedule = schedule
        self._random = random
        self._off_loop: Any = OffLoop(loop)
        self._lanes: WeakKeyDictionary[Executor, deque[Job]] = WeakKeyDictionary()
        self._is_paused = False
        self._held: list[Job] = []

    def submit(self, executor: Executor | None, call: Callable[[], Any]) -> asyncio.Future[Any]:
        """Have the call made soon; the future gets its result once its cost has passed."""
        lane = None if executor is None else self._lanes.setdefault(executor, deque())
        job = Job(call, self._loop.create_future(), lane)
        if lane is not None:
            lane.append(job)
        if lane is None or len(lane) == 1:
            self._start_soon(job)
        return job.result

    def pause(self) -> None:
        self._is_paused = True

    def resume(self) -> None:
        self._is_paused = False
        held, self._held = self._held, []
        for job in held:
            self._start_soon(job)

    def _start_soon(self, job: Job) -> None:
        delay_ns = 1 + int(self._random.random() * START_NS_MAX)
        self._schedule.after(delay_ns, partial(self._run, job))

    def _run(self, job: Job) -> None:
        if self._loop.is_dead:
            return
        if self._is_paused:
            self._held.append(job)
        elif job.result.cancelled():
            self._finish(job, lambda: None, [])
        else:
            handles: list[asyncio.Handle] = []
            self._loop.held_calls = handles
            tell = self._call(job)
            self._loop.held_calls = None
            spent_ns = self._loop.take_spent_ns()
            self._schedule.after(spent_ns, partial(self._finish, job, tell, handles))

    def _call(self, job: Job) -> Callable[[], None]:
        """Make the call; return how to tell of its outcome."""
        asyncio._set_running_loop(self._off_loop)
        try:
            return partial(job.result.set_result, job.call())
        except Exception as error:
            return partial(job.result.set_exception, error)
        except Killed:
            return lambda: None
        finally:
            asyncio._set_running_loop(None)

    def _finish(self, job: Job, tell: Callable[[], None], handles: list[asyncio.Handle]) -> None:
        self._loop.hand_over(handles)
        self._loop.call_soon(tell_unless_done, job.result, tell)
        if job.lane is not None:
            job.lane.popleft()
            if job.lane:
                self._start_soon(job.lane[0])


def tell_unless_done(result: asyncio.Future[Any], tell: Callable[[], None]) -> None:
    if not result.done():
        tell()
