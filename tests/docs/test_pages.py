"""The documentation's own commands, run as they stand; its links lead somewhere."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.waiting import wait_until

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```console ?(.*)\n((?:.*\n)*?)```$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
PATIENCE_S = 120


class Command(NamedTuple):
    where: str  # In the first terminal, in the background, or ("") one after the other.
    line: str


def commands(page: str) -> list[Command]:
    found = BLOCK.findall((DOCS / page).read_text())
    lines = [(where, line) for where, block in found for line in block.splitlines()]
    return [Command(where, line[2:]) for where, line in lines if line.startswith("$ ")]


@contextmanager
def running(line: str, directory: Path, name: str) -> Iterator[Path]:
    """A command in a terminal of its own, and what it says; Ctrl-C ends it."""
    said = directory / f"{name}.txt"
    with said.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-c", f"exec {line}"], cwd=directory, env=environment(), stdout=output,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            yield said
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "200"}


def run(line: str, directory: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", line], cwd=directory, env=environment(), capture_output=True, text=True,
        timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", ["tutorial.md", "coordination.md"])
def test_every_command_of_a_page_works(page: str, tmp_path: Path) -> None:
    first, *others = commands(page)
    assert first.where == "first terminal" and len(others) > 5
    with running(first.line, tmp_path, "first") as said:
        wait_until(lambda: "127.0.0.1:" in said.read_text(), patience_s=PATIENCE_S)
        for number, command in enumerate(others):
            if command.where == "background":
                with_background(command, others[number + 1 :], tmp_path)
                return
            run(command.line, tmp_path)


def with_background(command: Command, others: list[Command], directory: Path) -> None:
    """What watches must have seen something once the rest is done."""
    with running(command.line, directory, "background") as said:
        for each in others:
            run(each.line, directory)
        wait_until(lambda: said.read_text() != "", patience_s=PATIENCE_S)


@pytest.mark.parametrize("page", sorted(str(it.relative_to(DOCS)) for it in DOCS.rglob("*.md")))
def test_links_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text()
    targets = [it for it in LINK.findall(text) if "://" not in it]
    assert [it for it in targets if not (DOCS / page).parent.joinpath(it).exists()] == []
