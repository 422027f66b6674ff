"""Jars of Apache's software, resolved by Maven from a small pom beside this file.

Whoever lacks a tool skips the tests that need it, and is told which.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

HERE = Path(__file__).parent
FETCH_SECONDS = 300


@cache
def class_path(pom: str, *tools: str) -> str:
    """The class path of a pom's dependencies; skips the test where it cannot be had."""
    for program in ("java", "mvn", *tools):
        if shutil.which(program) is None:
            pytest.skip(f"{pom} needs {program}, which is not here")
    # What was fetched before is found without a network, and sooner.
    for offline in (["-o"], []):
        if jars := _resolve(pom, offline):
            return jars
    pytest.skip(f"Maven could not fetch what {pom} names")


def _resolve(pom: str, options: list[str]) -> str | None:
    with NamedTemporaryFile("r") as answer:
        goal = ["dependency:build-classpath", f"-Dmdep.outputFile={answer.name}"]
        command = ["mvn", "-q", "-B", *options, "-f", str(HERE / pom), *goal]
        try:
            done = subprocess.run(command, capture_output=True, timeout=FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        return answer.read().strip() if done.returncode == 0 else None
