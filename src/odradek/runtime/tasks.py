"""Supervised tasks: a node's tasks live together and stop together.

When one dies, the node stops: the others are cancelled one after the other, the last started
first, each given the time to finish. The first failure, even one during the stop, is the reason
that is raised; later ones are logged. A task that swallows its cancellation is left behind, by
name, once the grace time is over twice: once in order, once for all the rest together.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

from odradek.runtime.errors import OdradekError
from odradek.runtime.logs import NodeLog

GRACE_S = 10.0

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class TaskDied(OdradekError):
    """Why a node stopped: the task's name, and as `__cause__` what it raised, if it did."""

    def __init__(self, name: str, cause: BaseException | str) -> None:
        reason = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
        super().__init__(f"{name}: {reason}")
        self.name = name
        self.__cause__ = None if isinstance(cause, str) else cause


class Tasks:
    """The tasks of one node, all on the running loop."""

    def __init__(self, log: NodeLog, *, grace_s: float = GRACE_S) -> None:
        self.failure: TaskDied | None = None
        self._log = log
        self._grace_s = grace_s
        self._may_end: dict[asyncio.Task[Any], bool] = {}  # All that run, oldest first.
        self._stopping: asyncio.Task[None] | None = None
        self._stopped = asyncio.Event()

    @property
    def is_stopping(self) -> bool:
        return self._stopping is not None

    def names(self) -> list[str]:
        """What runs, oldest first."""
        return [task.get_name() for task in self._may_end]

    def start(
        self, name: str, work: Coroutine[Any, Any, Result], *, may_end: bool = False
    ) -> asyncio.Task[Result]:
        """Run `work` until the node stops; only with `may_end` may it end or be cancelled before.

        What is started during a stop is cancelled before it begins.
        """
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._may_end[task] = may_end
        task.add_done_callback(self._ended)
        if self.is_stopping:
            task.cancel()
        return task

    def guard(
        self, name: str, callback: Callable[Parameters, object]
    ) -> Callable[Parameters, None]:
        """Wrap a callback for the loop: what it raises stops the node, as a task's death does."""

        def guarded(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
            try:
                callback(*args, **kwargs)
            except Exception as error:
                self.fail(name, error)

        return guarded

    def fail(self, name: str, cause: BaseException | str) -> None:
        """Stop the node because of this."""
        failure = TaskDied(name, cause)
        if self.failure is None and not self._stopped.is_set():
            self.failure = failure
        else:
            self._log_failure(failure)
        self.stop()

    def take_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Stop the node for what nobody caught: the exception handler of a loop with one node."""
        error = context.get("exception")
        if error is None:
            loop.default_exception_handler(context)
        else:
            self.fail(context["message"], error)

    def stop(self) -> None:
        """Begin to stop; `until_stopped` tells when it is done."""
        if self._stopping is None:
            self._stopping = asyncio.get_running_loop().create_task(self._stop(), name="stop")

    async def until_stopped(self) -> None:
        """Return when all tasks are stopped; raise `TaskDied` if one died.

        If the waiter is cancelled the node is stopped, and the cancellation goes on after that.
        A second cancellation is not kept waiting.
        """
        try:
            await self._stopped.wait()
        except asyncio.CancelledError:
            self.stop()
            await self._stopped.wait()
            if self.failure is not None:
                self._log_failure(self.failure)
            raise
        if self.failure is not None:
            raise self.failure

    async def _stop(self) -> None:
        try:
            await self._cancel_in_order()
            await self._cancel_together()
        finally:
            self._stopped.set()

    async def _cancel_in_order(self) -> None:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._grace_s
        for task in reversed(list(self._may_end)):
            task.cancel()
            await asyncio.wait([task], timeout=max(0.0, deadline - clock()))
            if not task.done():
                return

    async def _cancel_together(self) -> None:
        if not self._may_end:
            return
        for task in self._may_end:
            task.cancel()
        await asyncio.wait(list(self._may_end), timeout=self._grace_s)
        for task in self._may_end:
            self._log.error("%s did not stop when told to, and is left behind", task.get_name())

    def _ended(self, task: asyncio.Task[Any]) -> None:
        may_end = self._may_end.pop(task)
        cause = cause_of_death(task, is_expected=may_end, is_stopping=self.is_stopping)
        if cause is not None:
            self.fail(task.get_name(), cause)

    def _log_failure(self, failure: TaskDied) -> None:
        self._log.error("%s", failure, exc_info=failure.__cause__)


def cause_of_death(
    task: asyncio.Task[Any], *, is_expected: bool, is_stopping: bool
) -> BaseException | str | None:
    """What is wrong with this end of a task, or None."""
    if task.cancelled():
        # Without a request to cancel, it awaited something that others had cancelled.
        is_asked = task.cancelling() > 0 and is_expected
        return None if is_stopping or is_asked else "was cancelled, but not by its node"
    if error := task.exception():
        return error
    return None if is_stopping or is_expected else "ended, though it runs as long as its node"
