"""Programs that start others: when their time is over all of them end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

PATIENCE_S = 900


def run_to_its_end(
    command: list[str], cwd: Path | None = None, environment: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """The exit code of a program, and what it wrote to its outputs."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, error = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, out, error
