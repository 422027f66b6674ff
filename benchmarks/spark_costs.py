"""What work in Spark costs: seconds on the clock, and of the processor in all its processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")
LOOK_EVERY_S = 0.25


class Cost(NamedTuple):
    """Seconds."""

    wall: float
    cpu: float


class Meter:
    """Counts the processor time of this process, a JVM and all that descends from it.

    Workers come and go, and take what they used with them. So one looks often, and remembers.
    """

    def __init__(self, jvm: int) -> None:
        self._jvm = jvm
        self._seen: dict[int, float] = {}
        self._is_over = Event()

    @classmethod
    @contextmanager
    def of(cls, spark: SparkSession) -> Iterator[Meter]:
        """A meter of a session, as long as the block."""
        gateway = spark.sparkContext._gateway
        assert gateway is not None
        meter = cls(gateway.proc.pid)
        looking = Thread(target=meter._keep_looking, daemon=True)
        looking.start()
        try:
            yield meter
        finally:
            meter._is_over.set()
            looking.join()

    def measure(self, work: Callable[[], object]) -> Cost:
        cpu, start = self._used(), perf_counter()
        work()
        return Cost(perf_counter() - start, self._used() - cpu)

    def _keep_looking(self) -> None:
        while not self._is_over.wait(LOOK_EVERY_S):
            self._look()

    def _used(self) -> float:
        self._look()
        times = os.times()
        return sum(self._seen.values()) + times.user + times.system

    def _look(self) -> None:
        parents: dict[int, int] = {}
        used: dict[int, float] = {}
        for directory in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError):
                pid = int(directory.name)
                fields = (directory / "stat").read_text().rpartition(")")[2].split()
                parents[pid] = int(fields[1])
                used[pid] = (int(fields[11]) + int(fields[12])) / TICKS
        for pid in used:
            if self._is_ours(pid, parents):
                self._seen[pid] = used[pid]

    def _is_ours(self, pid: int, parents: dict[int, int]) -> bool:
        while pid > 1:
            if pid == self._jvm:
                return True
            pid = parents.get(pid, 0)
        return False
