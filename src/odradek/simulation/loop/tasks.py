"""Tasks and timers of a simulated node."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import Context
from typing import Any, Protocol

# A coroutine may await in its `finally` and must then be closed again. Nobody nests that deep.
CLOSE_TRIES = 100


class TimerOwner(Protocol):
    """A loop, as its timers see it."""

    def timer_due(self, timer: asyncio.TimerHandle) -> None: ...


class NodeTimer(asyncio.TimerHandle):
    """A timer that waits in the schedule of the world, not in that of its loop."""

    __slots__ = ("owner",)

    def __init__(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
        context: Context | None,
        owner: TimerOwner,
    ) -> None:
        super().__init__(when, callback, args, loop, context)
        self.owner = owner

    def due(self) -> None:
        self.owner.timer_due(self)


class NodeTask(asyncio.Task[Any]):
    """A task that hashes by its number, so that each process walks a set of tasks alike."""

    def __init__(self, coro: Coroutine[Any, Any, Any], number: int, **options: Any) -> None:
        self.number = number  # Before the rest: asyncio puts the task into a set at once.
        super().__init__(coro, **options)

    def __hash__(self) -> int:
        return self.number

    def bury(self) -> None:
        """Close the coroutine here and now, rather than wherever the garbage collector would."""
        coro = self.get_coro()
        for _ in range(CLOSE_TRIES):
            with suppress(BaseException):
                if isinstance(coro, Coroutine):
                    coro.close()
                return

    def where(self) -> str:
        """The task's name and the line at which it waits."""
        frames = self.get_stack(limit=1)
        if not frames:
            return self.get_name()
        code = frames[0].f_code
        return f"{self.get_name()} in {code.co_qualname}, line {frames[0].f_lineno}"
