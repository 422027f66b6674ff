"""Virtual time: what will happen, in order, and whose turn it is.

Time is whole nanoseconds. It stands still while any node has something to do, then jumps to the
next moment, however far. Within one moment the seed draws the order among nodes; the order
within a node is the one in which it asked.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from random import Random
from typing import Protocol

from odradek.simulation.errors import Spinning

SECOND_NS = 1_000_000_000
FOREVER_NS = 1 << 62

# So many turns at one moment, and time will never pass again.
TURNS_AT_ONCE_MAX = 1_000_000
TURNS_PER_COLLECTION = 20_000
COLLECTIONS_PER_FULL = 25
SWEEP_MIN = 4_096


class Due(Protocol):
    """Something that waits for its time."""

    def cancelled(self) -> bool: ...

    def due(self) -> None: ...


class Node(Protocol):
    """A node, as the schedule sees it."""

    def take_turn(self) -> bool:
        """Run what is ready; say whether there is more."""


class Moment:
    """Something that happens to the world at its time, unless cancelled."""

    __slots__ = ("_action", "_is_cancelled")

    def __init__(self, action: Callable[[], object]) -> None:
        self._action = action
        self._is_cancelled = False

    def cancel(self) -> None:
        self._is_cancelled = True

    def cancelled(self) -> bool:
        return self._is_cancelled

    def due(self) -> None:
        self._action()


class Schedule:
    """The time, all that waits for a later one, and the nodes that wait for their turn."""

    __slots__ = (
        "_count",
        "_random",
        "_ready",
        "_sweep_at",
        "_turns",
        "_turns_before",
        "_waiting",
        "now_ns",
    )

    def __init__(self, random: Random) -> None:
        self.now_ns = 0
        self._random = random
        self._waiting: list[tuple[int, int, Due]] = []
        self._count = 0  # Breaks ties: first asked, first served.
        self._sweep_at = SWEEP_MIN
        self._ready: list[Node] = []
        self._turns = 0
        self._turns_before = 0  # This moment.

    @property
    def is_idle(self) -> bool:
        """Whether nothing is ready and nothing waits."""
        self._drop_cancelled()
        return not self._ready and not self._waiting

    def after(self, delay_ns: int, action: Callable[[], object]) -> Moment:
        """Have this done in so many nanoseconds."""
        moment = Moment(action)
        self.put(self.now_ns + delay_ns, moment)
        return moment

    def put(self, when_ns: int, item: Due) -> None:
        self._count += 1
        heappush(self._waiting, (when_ns, self._count, item))
        if len(self._waiting) > self._sweep_at:
            self.keep(lambda item: True)

    def keep(self, is_wanted: Callable[[Due], bool]) -> None:
        """Forget all items that are cancelled or not wanted."""
        self._waiting = [
            entry for entry in self._waiting if not entry[2].cancelled() and is_wanted(entry[2])
        ]
        heapify(self._waiting)
        # Twice as many as are alive: a sweep costs each item that it may drop but once.
        self._sweep_at = max(SWEEP_MIN, 2 * len(self._waiting))

    def wake(self, node: Node) -> None:
        """Queue a node, which is not queued, for a turn."""
        self._ready.append(node)

    def forget_turn(self, node: Node) -> bool:
        """Take a node out of the queue; False if it was not there."""
        if node not in self._ready:
            return False
        self._ready.remove(node)
        return True

    def step(self, limit_ns: int = FOREVER_NS) -> bool:
        """Run one node's turn, or jump to the next moment; False if the limit comes before it."""
        if not self._ready:
            return self._jump(limit_ns)
        self._turns += 1
        if not self._turns % TURNS_PER_COLLECTION:
            self._tidy_up()
        node = self._draw()
        if node.take_turn():
            self._ready.append(node)
        return True

    def pass_time(self, until_ns: int) -> None:
        """Move to a time before which nothing waits."""
        assert not self._waiting or self._waiting[0][0] >= until_ns
        self.now_ns = max(self.now_ns, until_ns)

    def _draw(self) -> Node:
        ready = self._ready
        if len(ready) > 1:
            chosen = int(self._random.random() * len(ready))
            ready[chosen], ready[-1] = ready[-1], ready[chosen]
        return ready.pop()

    def _jump(self, limit_ns: int) -> bool:
        self._drop_cancelled()
        if not self._waiting or self._waiting[0][0] > limit_ns:
            return False
        if self._waiting[0][0] > self.now_ns:
            self.now_ns = self._waiting[0][0]
            self._turns_before = self._turns
        while self._waiting and self._waiting[0][0] <= self.now_ns:
            item = heappop(self._waiting)[2]
            if not item.cancelled():
                item.due()
        return True

    def _drop_cancelled(self) -> None:
        while self._waiting and self._waiting[0][2].cancelled():
            heappop(self._waiting)

    def _tidy_up(self) -> None:
        """Collect garbage at a turn of our own choosing, for finalizers may touch the world."""
        is_full = not self._turns % (TURNS_PER_COLLECTION * COLLECTIONS_PER_FULL)
        gc.collect(2 if is_full else 1)
        if self._turns - self._turns_before > TURNS_AT_ONCE_MAX:
            raise Spinning(f"{TURNS_AT_ONCE_MAX} turns at one moment; busy: {self._ready}")
