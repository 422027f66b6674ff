"""The Python that servers run on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from odradek.doctor import interpreter
from odradek.doctor.interpreter import candidates, choose, is_optimised

UPSTREAM = "-fprofile-use -fprofile-correction"


@pytest.mark.parametrize(
    ("arguments", "flag", "is_so"),
    [
        ("'--prefix=/usr' '--enable-optimizations' '--with-lto'", UPSTREAM, True),
        ("'--prefix=/home/me' '--enable-shared'", UPSTREAM, False),
        ("'--prefix=/usr' '--enable-shared' '--with-dtrace'", "", True),
        (None, None, True),
    ],
    ids=["asked for", "plain", "as Debian's", "nothing is known"],
)
def test_a_build_for_speed_is_told_by_its_variables(
    arguments: str | None, flag: str | None, is_so: bool
) -> None:
    assert is_optimised({"CONFIG_ARGS": arguments, "PGO_PROF_USE_FLAG": flag}) is is_so


def python_that_says(directory: Path, name: str, arguments: str, status: int = 0) -> str:
    directory.mkdir(exist_ok=True)
    program = directory / name
    program.write_text(f"#!/bin/sh\necho \"{arguments}\"\necho '{UPSTREAM}'\nexit {status}\n")
    program.chmod(0o755)
    return str(program)


def test_the_first_that_was_built_for_speed_is_chosen(tmp_path: Path) -> None:
    plain = python_that_says(tmp_path / "a", "python3", "'--enable-shared'")
    useless = python_that_says(tmp_path / "b", "python3", "'--enable-optimizations'", status=1)
    fast = python_that_says(tmp_path / "c", "python3.12", "'--enable-optimizations'")
    found = list(candidates(f"{tmp_path}/a:{tmp_path}/b::{tmp_path}/c:{tmp_path}/missing"))
    assert found == [plain, useless, fast]
    assert choose(found) == fast
    assert choose([useless, plain]) == plain
    assert choose([useless, str(tmp_path / "gone")]) is None


def test_as_a_program_it_names_a_python_that_can_be_used() -> None:
    told = subprocess.run(
        [sys.executable, "-I", interpreter.__file__], capture_output=True, text=True, check=True
    )
    assert interpreter.ask(told.stdout.strip()) is not None
