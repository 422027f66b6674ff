"""Answers that wait for partitions to move, or for their time to be over.

Who waits is known to the partitions concerned and to nobody else: when one moves, only those who
wait for it are looked at. What they count or test is theirs; once woken, a handler looks again at
what it wanted, for other things may have happened meanwhile.

Who is woken goes on when whoever woke it is at a place to rest, not a turn of the loop later: in
that turn the loop may let others have the processor, and somebody waits for this answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from odradek.kafka.broker.deadlines import Deadlines

LONGEST_S = 2**31 / 1000


class Watcher(Protocol):
    """Who is told what happens to a partition."""

    def appended(self, count: int) -> None:
        """So many bytes more are in the leader's log."""

    def committed(self, count: int) -> None:
        """So many bytes more are below the high watermark."""

    def changed(self) -> None:
        """Something else is new: who leads, where the log starts."""


class Watched(Protocol):
    """What tells its watchers: a partition, or all partitions of a fetch session."""

    @property
    def watchers(self) -> dict[Watcher, None]: ...


class Awaited(asyncio.Future[bool]):
    """What a request waits for. One that has no task says itself how it goes on."""

    __slots__ = ("goes_on",)
    goes_on: Callable[[Awaited], None] | None

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop=loop)
        self.goes_on = None


class Waiter:
    """One request that waits."""

    __slots__ = ("_awaited", "_woken")
    _awaited: Awaited
    _woken: Callable[[Awaited], None]

    def begin(self, awaited: Awaited, woken: Callable[[Awaited], None]) -> None:
        self._awaited, self._woken = awaited, woken

    def wake(self, *, is_in_time: bool = True) -> None:
        awaited = self._awaited
        if not awaited.done():
            awaited.set_result(is_in_time)
            if awaited.goes_on is not None:
                self._woken(awaited)

    def expire(self) -> None:
        self.wake(is_in_time=False)

    def appended(self, count: int) -> None: ...

    def committed(self, count: int) -> None: ...

    def changed(self) -> None:
        self.wake()


class BytesWanted(Waiter):
    """A fetch that waits until there is enough."""

    __slots__ = ("_count", "_is_follower", "has_changed")

    def __init__(self, count: int, *, is_follower: bool = False) -> None:
        self._count = count
        self._is_follower = is_follower
        self.has_changed = False  # Whether something is new other than bytes.

    def changed(self) -> None:
        self.has_changed = True
        self.wake()

    def appended(self, count: int) -> None:
        if self._is_follower:
            self._take(count)

    def committed(self, count: int) -> None:
        if not self._is_follower:
            self._take(count)

    def _take(self, count: int) -> None:
        self._count -= count
        if self._count <= 0:
            self.wake()


class Until(Waiter):
    """Something that waits until a condition holds, which only its partitions can bring about."""

    __slots__ = ("is_met",)

    def __init__(self, is_met: Callable[[], bool]) -> None:
        self.is_met = is_met

    def committed(self, count: int) -> None:
        self.changed()

    def changed(self) -> None:
        if self.is_met():
            self.wake()


class Parked:
    """All that wait, by how many they are."""

    def __init__(self) -> None:
        self.fetches = 0
        self.others = 0
        self.loop = asyncio.get_running_loop()  # To ask for it costs a system call.
        self._deadlines = Deadlines(self.loop)
        self._woken: deque[Awaited] = deque()
        self._is_going_on = False

    async def wait(self, waiter: Waiter, watched: Sequence[Watched], timeout_ms: int) -> bool:
        """Wait until woken (True), or until the time is over (False)."""
        awaited = Awaited(self.loop)
        waiter.begin(awaited, self._wake)
        line = self._deadlines.enter(waiter, min(timeout_ms / 1000, LONGEST_S))
        for each in watched:
            each.watchers[waiter] = None
        is_fetch = isinstance(waiter, BytesWanted)
        self.fetches += is_fetch
        self.others += not is_fetch
        try:
            return await awaited
        finally:
            self.fetches -= is_fetch
            self.others -= not is_fetch
            self._deadlines.leave(line, waiter)
            for each in watched:
                each.watchers.pop(waiter, None)

    def _wake(self, awaited: Awaited) -> None:
        if not self._woken:
            self.loop.call_soon(self.go_on)  # Should nobody rest before that.
        self._woken.append(awaited)

    def go_on(self) -> None:
        """Let all go on who were woken, and whom they wake; for whoever is at a place to rest."""
        if self._is_going_on:
            return
        self._is_going_on = True
        try:
            while self._woken:
                self._let_go_on(self._woken.popleft())
        finally:
            self._is_going_on = False

    def _let_go_on(self, awaited: Awaited) -> None:
        """If it fails the loop hears of it, as from any callback, and not whoever rests here."""
        try:
            if awaited.goes_on is not None:
                awaited.goes_on(awaited)
        except Exception as error:
            context = {"message": "who was woken could not go on", "exception": error}
            self.loop.call_exception_handler(context)
