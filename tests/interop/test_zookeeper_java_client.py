"""Apache's Java client against our server, judged by what it sees at Apache's.

Each program under `java/client` tells what it was answered and what it heard. Both servers have
the same history, so zxids are part of what must be equal.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.java_clients import told_by
from tests.interop.pair import Pair

PROGRAMS = [
    "AsyncCalls",
    "Multis",
    "OneShotWatches",
    "LastingWatches",
    "MovedSession",
    "LostConnection",
    "ExpiredSession",
    "Access",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_java_client_sees_what_it_sees_at_apache(
    servers: Pair, classes: Path, program: str
) -> None:
    ours = told_by(classes, f"client.{program}", servers.ours)
    assert ours.splitlines() == told_by(classes, f"client.{program}", servers.theirs).splitlines()
