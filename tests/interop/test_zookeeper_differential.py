"""The same streams to Apache ZooKeeper and to us, live: each step is answered the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interop.apache import ApacheZooKeeper
from tests.zookeeper.server.oddities import odd_steps
from tests.zookeeper.server.player import play
from tests.zookeeper.server.running import running_server
from tests.zookeeper.server.steps import Step
from tests.zookeeper.server.streams import stream
from tests.zookeeper.server.transcripts import SETTINGS

FIRST_SEED = int(os.environ.get("SEED", "1000"))
SEED_COUNT = int(os.environ.get("SEEDS", "10"))
STEP_COUNT = 1000


# Settings that a client can tell, each other than in the streams at large.
TURNED = {
    "digest.enabled": "false",
    "enforceQuota": "false",
    "extendedTypesEnabled": "false",
    "reconfigEnabled": "true",
    "skipACL": "yes",
    "tickTime": "500",
}


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + SEED_COUNT))
def test_nobody_can_tell_the_servers_apart(seed: int, tmp_path: Path) -> None:
    compare(stream(seed, STEP_COUNT), SETTINGS, tmp_path)


@pytest.mark.parametrize("key", sorted(TURNED))
def test_a_setting_means_the_same_to_both(key: str, tmp_path: Path) -> None:
    compare(stream(FIRST_SEED, STEP_COUNT), SETTINGS | {key: TURNED[key]}, tmp_path)


def test_what_is_odd_is_odd_to_both(tmp_path: Path) -> None:
    compare(odd_steps(), SETTINGS, tmp_path)


def compare(steps: list[Step], settings: dict[str, object], directory: Path) -> None:
    theirs_at, ours_at = directory / "theirs", directory / "ours"
    theirs_at.mkdir()
    with ApacheZooKeeper(theirs_at, settings) as server:
        theirs = list(play(server.port, steps))
    with running_server(ours_at, **settings) as ours:
        for (step, said), (_, heard) in zip(play(ours.port, steps), theirs, strict=True):
            assert said == heard, step.text()
