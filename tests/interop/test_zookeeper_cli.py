"""zkCli against our server, judged by what it prints against Apache's.

Each story under `zkcli` is typed to both. Zxids are part of what must be equal.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.interop.pair import Pair
from tests.interop.zkcli import one_command, transcript

STORIES = sorted((Path(__file__).parent / "zkcli").glob("*.txt"))


@pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)
def test_zkcli_prints_what_it_prints_with_apache(servers: Pair, story: Path) -> None:
    text = story.read_text()
    ours = transcript(servers.ours, text)
    assert ours.splitlines() == transcript(servers.theirs, text).splitlines()


@pytest.mark.parametrize("command", ["ls -s /", "create /once data", "get /once", "get /nowhere"])
def test_zkcli_with_one_command_ends_as_with_apache(servers: Pair, command: str) -> None:
    words = command.split()
    assert one_command(servers.ours, *words) == one_command(servers.theirs, *words)
