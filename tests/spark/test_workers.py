"""A worker that is used again does not sift through the same objects after each task."""

from __future__ import annotations

import os
import subprocess
import sys

TWO_TASKS = """
import gc
from odradek.spark.workers import begin_task
for _ in range(3):
    begin_task()
    print(gc.get_freeze_count() > 0)
"""


def frozen_after_tasks(**more: str) -> list[str]:
    environment = {key: value for key, value in os.environ.items() if key != "SPARK_REUSE_WORKER"}
    done = subprocess.run(
        [sys.executable, "-c", TWO_TASKS],
        env={**environment, **more},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()


def test_what_survived_the_first_task_is_out_of_the_collectors_sight() -> None:
    assert frozen_after_tasks(SPARK_REUSE_WORKER="1") == ["False", "True", "True"]


def test_a_process_of_somebody_else_is_left_alone() -> None:
    assert frozen_after_tasks() == ["False", "False", "False"]
