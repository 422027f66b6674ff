"""The clocks, the one place that reads them.

The wall clock is for what people and files see, and may jump, back too. How long something takes,
or how long ago it was, is told by the running loop's `time()`, or in milliseconds by the steady
clock. A simulated loop brings its own, the wall clock skewed per node.
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


def steady_clock() -> Callable[[], int]:
    """Milliseconds since some moment, which never go back."""
    loop = asyncio.get_running_loop()
    return (lambda: int(loop.time() * 1000)) if is_simulated() else _steady_ms


def loop_ms() -> float:
    """The running loop's time in milliseconds, for those who do not read it often."""
    return asyncio.get_running_loop().time() * 1000


def stopwatch() -> Callable[[], float]:
    """Seconds, as exact as can be: uvloop's own time stands still while a callback runs."""
    return asyncio.get_running_loop().time if is_simulated() else time.perf_counter


def is_simulated() -> bool:
    """Whether the running loop's time passes only when nothing else is to be done."""
    return hasattr(asyncio.get_running_loop(), "wall_clock_ms")


def _real_ms() -> int:
    return time.time_ns() // 1_000_000


def _steady_ms() -> int:
    return time.monotonic_ns() // 1_000_000
