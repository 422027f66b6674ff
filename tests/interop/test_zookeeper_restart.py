"""A stream goes on after a restart, on files that either server wrote: nobody can tell whose."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages import requests
from odradek.zookeeper.wire.messages.session import ConnectRequest
from odradek.zookeeper.wire.requests import encode_request
from tests.interop.apache import ApacheZooKeeper
from tests.zookeeper.server.player import Player
from tests.zookeeper.server.random_requests import QUOTA_PATHS, auth
from tests.zookeeper.server.random_values import PATHS, SUPER_PASSWORD, SYSTEM_PATHS
from tests.zookeeper.server.running import running_server
from tests.zookeeper.server.steps import Deed, Step, opening, saying
from tests.zookeeper.server.streams import stream
from tests.zookeeper.server.transcripts import SETTINGS

# Some odd creates of a stream make the original log digests that are not those of its tree.
UNCHECKED = SETTINGS | {"digest.enabled": "false"}
STEP_COUNT = 800


@contextmanager
def serving(who: str, directory: Path) -> Iterator[int]:
    """The port of one of the two, on the files in this directory."""
    if who == "ours":
        with running_server(directory, **UNCHECKED) as ours:
            yield ours.port
    else:
        with ApacheZooKeeper(directory, UNCHECKED) as theirs:
            yield theirs.port


def survey() -> list[Step]:
    """A new client who may see everything looks at everything."""
    steps = [opening("Z"), saying("Z", auth("digest", SUPER_PASSWORD))]
    for xid, path in enumerate([*PATHS, *SYSTEM_PATHS, *QUOTA_PATHS], 1):
        asked = [
            encode_request(xid, Op.GET_DATA, requests.GetDataRequest(path, False)),
            encode_request(xid, Op.GET_ACL, requests.GetACLRequest(path)),
            encode_request(xid, Op.GET_CHILDREN2, requests.GetChildren2Request(path, False)),
        ]
        steps += [saying("Z", frame) for frame in asked]
    return steps


def returns(steps: list[Step]) -> list[Step]:
    """All clients come back, each with the session that it had after these steps."""
    sessions: dict[str, int] = {}
    count = 0
    for step in steps:
        if step.deed == Deed.OPEN and ConnectRequest.decode(step.payload).session_id == 0:
            count += 1
            sessions[step.client] = count
    return [opening(client, number) for client, number in sessions.items()]


def story(first: str, second: str, seed: int, directory: Path) -> list[tuple[str, list[str]]]:
    """What is heard of the second server, which goes on where the first has stopped."""
    directory.mkdir()
    steps = stream(seed, STEP_COUNT)
    before, after = steps[: STEP_COUNT // 2], steps[STEP_COUNT // 2 :]
    with serving(first, directory) as port:
        player = Player(port)
        for step in before:
            player.play(step)
    with serving(second, directory) as port:
        player.move(port)
        later = [*returns(before), *survey(), *after]
        heard = [(step.text(), player.play(step)) for step in later]
        player.close()
    return heard


@pytest.mark.parametrize("seed", [7001, 7002])
@pytest.mark.parametrize(
    ("first", "second"), [("ours", "ours"), ("theirs", "ours"), ("ours", "theirs")]
)
def test_whoever_goes_on_with_whose_files_nobody_can_tell(
    first: str, second: str, seed: int, tmp_path: Path
) -> None:
    expected = story("theirs", "theirs", seed, tmp_path / "expected")
    assert story(first, second, seed, tmp_path / "told") == expected
