"""The Python processes that tasks run in, which Spark reuses: what is done once, not for each task.

After each task Spark's daemon collects garbage. Arrow, Spark and we are some sixty thousand
objects, so that takes as long as reading many thousands of records. All that has survived the first
task is there to stay: it is taken out of sight of the collector, which then finds little to do.
"""

from __future__ import annotations

import gc
import os

_tasks_begun: dict[int, int] = {}  # By process: a fork starts anew.


def begin_task() -> None:
    """Call this first in each task."""
    pid = os.getpid()
    begun = _tasks_begun[pid] = _tasks_begun.get(pid, 0) + 1
    if begun == 2 and is_reused():
        gc.freeze()


def is_reused() -> bool:
    """Whether this process is a worker that Spark will give other tasks to."""
    return "SPARK_REUSE_WORKER" in os.environ
