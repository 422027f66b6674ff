"""Writes side by side: who copies megabytes to the system lets others copy too.

The system copies what it is given in the thread that gives it, page by page, and one processor does
no more than that. So the caller and its helpers take from one heap until it is empty. The caller
waits for all of it: what is done is as if it had done everything itself. A helper that
does not come in time has nothing left to do, and is not waited for.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from odradek.runtime.disk import outcome_of

HELPERS_MAX = 3


class SideBySide:
    """Some threads that help the caller, made when they are first of use."""

    def __init__(self, helpers_count: int | None = None) -> None:
        if helpers_count is None:
            helpers_count = min(HELPERS_MAX, (os.cpu_count() or 1) - 1)
        self._helpers_count = helpers_count
        self._helpers: ThreadPoolExecutor | None = None

    def do(self, writes: Sequence[Callable[[], None]]) -> list[Exception | None]:
        """Do all; what went wrong with each."""
        helpers_count = min(self._helpers_count, len(writes) - 1)
        if helpers_count < 1:
            return list(map(outcome_of, writes))
        if self._helpers is None:
            self._helpers = ThreadPoolExecutor(self._helpers_count, "writing")
        heap = Heap(writes)
        helping = [self._helpers.submit(heap.work) for _ in range(helpers_count)]
        heap.work()
        for each in helping:
            if not each.cancel():
                each.result()
        return heap.outcomes


class Heap:
    """Writes, taken one by one by whoever is free."""

    def __init__(self, writes: Sequence[Callable[[], None]]) -> None:
        self.outcomes: list[Exception | None] = [None] * len(writes)
        self._left = deque(enumerate(writes))

    def work(self) -> None:
        """Take until nothing is left."""
        while True:
            try:
                number, write = self._left.popleft()
            except IndexError:
                return
            self.outcomes[number] = outcome_of(write)
