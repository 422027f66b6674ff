"""When something must happen unless something else does, soonest first.

A deadline that is put off, as each heartbeat does, stays where it is in the heap and is looked at
again when its old time comes: a heartbeat costs one assignment, and a tick costs what is due.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from itertools import count


class Kind(Enum):
    """What is over when a deadline passes."""

    SESSION = "a member was not heard of"
    PENDING_MEMBER = "who was given a member id did not come back with it"
    JOIN = "members had their time to join"
    SYNC = "members had their time to ask for their assignment"


@dataclass(slots=True, eq=False)
class Deadline:
    """One thing with a time limit. Idle until it is set."""

    kind: Kind
    group_id: str
    member_id: str = ""
    due_ms: int | None = None
    queued_ms: int | None = None  # Of its entry in the heap that counts; others are stale.


@dataclass(slots=True)
class Deadlines:
    """All deadlines of a shard."""

    heap: list[tuple[int, int, Deadline]] = field(default_factory=list)
    order: count[int] = field(default_factory=count)

    def start(self, deadline: Deadline, now_ms: int, timeout_ms: int) -> None:
        """(Re)start a time limit. It never ends within the tick that set it."""
        due_ms = deadline.due_ms = now_ms + max(timeout_ms, 1)
        if deadline.queued_ms is None or due_ms < deadline.queued_ms:
            self._queue(deadline, due_ms)

    def cancel(self, deadline: Deadline) -> None:
        deadline.due_ms = None

    def pop_due(self, now_ms: int) -> Deadline | None:
        """The next deadline that has passed, idle again."""
        while self.heap and self.heap[0][0] <= now_ms:
            queued_ms, _, deadline = heappop(self.heap)
            if queued_ms != deadline.queued_ms:
                continue
            deadline.queued_ms = None
            if deadline.due_ms is not None and deadline.due_ms > now_ms:
                self._queue(deadline, deadline.due_ms)
            elif deadline.due_ms is not None:
                deadline.due_ms = None
                return deadline
        return None

    def next_ms(self) -> int | None:
        """When to look again; at times earlier than needed, never later."""
        while self.heap:
            queued_ms, _, deadline = self.heap[0]
            if queued_ms == deadline.queued_ms and deadline.due_ms is not None:
                return queued_ms
            if queued_ms == deadline.queued_ms:
                deadline.queued_ms = None
            heappop(self.heap)
        return None

    def _queue(self, deadline: Deadline, due_ms: int) -> None:
        deadline.queued_ms = due_ms
        heappush(self.heap, (due_ms, next(self.order), deadline))
