"""The wall clock, the one place that reads it.

Durations are measured with the running loop's `time()`. The wall clock is for what people and
files see, and may jump. A simulated loop brings its own, skewed per node.
"""

from __future__ import annotations

import asyncio
import time


def wall_clock_ms() -> int:
    """Milliseconds since 1970, as this node believes them to be."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return time.time_ns() // 1_000_000
    simulated = getattr(loop, "wall_clock_ms", None)
    return simulated() if simulated else time.time_ns() // 1_000_000
