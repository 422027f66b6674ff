"""Thousands of requests, answered by Apache ZooKeeper once and by us now: no difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.zookeeper.server.player import Player
from tests.zookeeper.server.running import running_server
from tests.zookeeper.server.steps import Deed
from tests.zookeeper.server.transcripts import SETTINGS, read_transcript, recorded


@pytest.mark.parametrize("transcript", recorded(), ids=lambda path: path.name.partition(".")[0])
def test_we_say_what_was_recorded(transcript: Path, tmp_path: Path) -> None:
    with running_server(tmp_path, **SETTINGS) as server:
        player = Player(server.port)
        try:
            for step, heard in read_transcript(transcript):
                assert player.play(step) == heard, step.text()
        finally:
            player.close()


def test_the_recordings_hold_thousands_of_requests() -> None:
    steps = [step for path in recorded() for step, _ in read_transcript(path)]
    assert sum(len(step.requests()) for step in steps if step.deed == Deed.SAY) > 5000
