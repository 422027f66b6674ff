"""An asyncio loop that gets its time and its turns from a schedule.

Callbacks run in the order in which they were asked for, as asyncio promises. A loop is held by
keeping its turns back, and dies by having none: whatever its code still asks for while it is
unwound is ignored.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextvars import Context
from typing import Any, TypeVarTuple
from weakref import WeakValueDictionary

from odradek.simulation.clocks import HostClock
from odradek.simulation.loop.tasks import NodeTask, NodeTimer
from odradek.simulation.schedule import Due, Schedule
from odradek.simulation.trace import Trace

Arguments = TypeVarTuple("Arguments")

# What nodes do at one moment cannot reach each other before a later one, so a turn may be long.
ROUNDS_PER_TURN = 8


class VirtualLoop(asyncio.BaseEventLoop):
    """Queue, timers, tasks, life and death of a loop; no I/O."""

    def __init__(self, name: str, schedule: Schedule, clock: HostClock, trace: Trace) -> None:
        super().__init__()
        self.name = name
        self.is_dead = False
        self.held_calls: list[asyncio.Handle] | None = None  # What a thread asks for as it runs.
        self._schedule = schedule
        self._clock = clock
        self._trace = trace
        self._queue: list[asyncio.Handle] = []
        self._is_queued = False  # In the schedule, or having its turn.
        self._holds = 0
        self._busy_ns = 0
        self._tasks: WeakValueDictionary[int, NodeTask] = WeakValueDictionary()
        self._task_count = 0

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def is_running(self) -> bool:
        return asyncio._get_running_loop() is self and not self.is_dead

    def time(self) -> float:
        return self._clock.time()

    def wall_clock_ms(self) -> int:
        """What `odradek.runtime.clock` asks the running loop for."""
        return self._clock.wall_ms()

    def call_soon(
        self,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, self, context)
        if not self.is_dead:
            self._enqueue(handle)
        return handle

    def call_soon_threadsafe(
        self,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.Handle:
        """From a thread it takes effect once the thread's call has cost what it costs."""
        if self.held_calls is None:
            return self.call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self.held_calls.append(handle)
        return handle

    def hand_over(self, handles: list[asyncio.Handle]) -> None:
        """The time has come for what a thread asked for."""
        for handle in handles:
            if not self.is_dead:
                self._enqueue(handle)

    def call_later(
        self,
        delay: float,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        return self.call_at(self._clock.time() + delay, callback, *args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[*Arguments], object],
        *args: *Arguments,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        timer = NodeTimer(when, callback, args, self, context, self)
        if not self.is_dead:
            self._schedule.put(self._clock.moment_ns(when), timer)
        return timer

    def timer_due(self, timer: asyncio.TimerHandle) -> None:
        if self._trace.is_on:
            self._trace.note(f"{self.name} timer")
        self._enqueue(timer)

    def create_task(
        self, coro: Any, *, name: object = None, context: Context | None = None, **options: Any
    ) -> NodeTask:
        if self.is_dead:
            coro.close()
            raise RuntimeError("Event loop is closed")
        self._task_count = number = self._task_count + 1
        label = f"{self.name}-{number}" if name is None else str(name)
        task = NodeTask(coro, number, loop=self, name=label, context=context)
        self._tasks[number] = task
        return task

    def pending_tasks(self) -> list[NodeTask]:
        """The tasks that are not done, oldest first."""
        return [task for task in list(self._tasks.values()) if not task.done()]

    def take_turn(self) -> bool:
        """Run a few rounds of what is queued; say whether there is more."""
        sys.set_asyncgen_hooks(finalizer=self._finalize)
        asyncio._set_running_loop(self)
        try:
            for _ in range(ROUNDS_PER_TURN):
                queue, self._queue = self._queue, []
                for handle in queue:
                    if not handle._cancelled and not self.is_dead:
                        handle._run()
                if not self._queue or self._holds or self._busy_ns:
                    break
        finally:
            asyncio._set_running_loop(None)
        return self._end_turn()

    def spend(self, duration_ns: int) -> None:
        """Have the code that runs now take this long."""
        self._busy_ns += duration_ns

    def take_spent_ns(self) -> int:
        spent_ns, self._busy_ns = self._busy_ns, 0
        return spent_ns

    def hold(self) -> None:
        """Give this loop no turns until it is released, as often as it was held."""
        self._holds += 1
        if self._schedule.forget_turn(self):
            self._is_queued = False

    def release(self) -> None:
        self._holds -= 1
        self._wake()

    def die(self) -> None:
        """Run nothing of this loop's code ever again."""
        self.is_dead = True
        self._schedule.forget_turn(self)
        self._schedule.keep(self._is_not_ours)
        self._bury()
        self.close()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        if not self.is_dead:
            super().call_exception_handler(context)

    def _enqueue(self, handle: asyncio.Handle) -> None:
        self._queue.append(handle)
        if not self._is_queued:
            self._wake()

    def _wake(self) -> None:
        if self._queue and not self._is_queued and not self._holds and not self.is_dead:
            self._is_queued = True
            self._schedule.wake(self)

    def _end_turn(self) -> bool:
        if self.is_dead:
            self._bury()
            return False
        if self._busy_ns:
            # Someone blocked the loop: the rest of its work waits.
            self._holds += 1
            self._schedule.after(self.take_spent_ns(), self.release)
        self._is_queued = bool(self._queue) and not self._holds
        return self._is_queued

    def _bury(self) -> None:
        """Unwind what is left of the tasks, with this dead loop as the only one in reach."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(self)
        try:
            for task in self.pending_tasks():
                task.bury()
            self._queue.clear()
        finally:
            asyncio._set_running_loop(outer)

    def _is_not_ours(self, item: Due) -> bool:
        return not (isinstance(item, NodeTimer) and item.owner is self)

    def _finalize(self, generator: AsyncGenerator[Any, Any]) -> None:
        if not self.is_dead:
            self.create_task(generator.aclose())
