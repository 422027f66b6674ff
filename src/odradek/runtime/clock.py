"""The wall clock, the one place that reads it.

Durations are measured with the running loop's `time()`. The wall clock is for what people and
files see, and may jump. A simulated loop brings its own, skewed per node.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable


def wall_clock_ms() -> int:
    """Milliseconds since 1970, as this node believes them to be."""
    try:
        return wall_clock()()
    except RuntimeError:
        return _real_ms()


def wall_clock() -> Callable[[], int]:
    """The clock of the running loop, for those who read it with every request."""
    simulated: Callable[[], int] | None = getattr(asyncio.get_running_loop(), "wall_clock_ms", None)
    return simulated or _real_ms


def stopwatch() -> Callable[[], float]:
    """Seconds, as exact as can be: uvloop's own time stands still while a callback runs."""
    return asyncio.get_running_loop().time if is_simulated() else time.perf_counter


def is_simulated() -> bool:
    """Whether the running loop's time passes only when nothing else is to be done."""
    return hasattr(asyncio.get_running_loop(), "wall_clock_ms")


def _real_ms() -> int:
    return time.time_ns() // 1_000_000
