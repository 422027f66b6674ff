"""Curator's recipes on our server, judged by what they come to on Apache's.

Each program under `java/curator` tells what it saw. The servers look for empty containers and
what is out of time more often than they would by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.java_clients import told_by
from tests.interop.pair import Pair, both_servers

CLEANS_OFTEN = "-Dznode.container.checkIntervalMs=200"
PROGRAMS = [
    "LeaderLatches",
    "LeaderSelectors",
    "Mutexes",
    "ReadWriteLocks",
    "Semaphores",
    "Barriers",
    "Counters",
    "Caches",
    "Members",
    "Transactions",
    "Lifetimes",
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with both_servers(tmp_path_factory.mktemp("servers"), CLEANS_OFTEN) as pair:
        yield pair


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_recipe_of_curator_does_what_it_does_on_apache(
    servers: Pair, classes: Path, program: str
) -> None:
    ours = told_by(classes, f"curator.{program}", servers.ours)
    assert ours.splitlines() == told_by(classes, f"curator.{program}", servers.theirs).splitlines()
