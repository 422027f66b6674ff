"""Was this Python built for speed? And if not, is there another on this machine that was?

What distributions, python.org and uv give was: compiled with profiles of real runs, which makes our
servers a quarter faster. What pyenv builds by itself was not. The Makefile runs this file to choose
the Python of its virtual environment, so it imports nothing of ours.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

NAMES = ("python3", "python3.14", "python3.13", "python3.12", "python3.11")
ASK_S = 20.0
# What a Python says of itself: whether it is new enough and can make environments, and its build.
ASK = """
import sys, sysconfig, ensurepip, venv
assert sys.version_info >= (3, 11)
of = sysconfig.get_config_var
print(of("CONFIG_ARGS") or "")
print(of("PGO_PROF_USE_FLAG") or "")
"""


def is_optimised(variables: Mapping[str, object]) -> bool:
    """Whether its builder asked for it, or (as Debian's) did it in a way of their own."""
    asked = str(variables.get("CONFIG_ARGS") or "")
    return "--enable-optimizations" in asked or not variables.get("PGO_PROF_USE_FLAG")


def is_this_optimised() -> bool:
    return is_optimised(sysconfig.get_config_vars())


def candidates(search_path: str) -> Iterator[str]:
    """The Pythons that can be found, first the one that is meant by `python3`."""
    directories = [Path(each) for each in search_path.split(os.pathsep) if each]
    for name in NAMES:
        for directory in directories:
            if os.access(directory / name, os.X_OK):
                yield str(directory / name)


def ask(python: str) -> dict[str, object] | None:
    """How a Python was built; None if it is of no use."""
    try:
        asked = [python, "-I", "-c", ASK]
        told = subprocess.run(asked, capture_output=True, text=True, timeout=ASK_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    lines = [*told.stdout.splitlines(), "", ""]
    return {"CONFIG_ARGS": lines[0], "PGO_PROF_USE_FLAG": lines[1]}


def choose(pythons: Iterable[str]) -> str | None:
    """The first that was built for speed, or else the first of use."""
    first = None
    for python in pythons:
        variables = ask(python)
        if variables is None:
            continue
        if is_optimised(variables):
            return python
        first = first or python
    return first


if __name__ == "__main__":
    print(choose(candidates(os.environ.get("PATH", os.defpath))) or sys.executable)
