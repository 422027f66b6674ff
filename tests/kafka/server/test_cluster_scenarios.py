"""The stories in `scenarios/`, played by whole brokers on an ensemble of ZooKeeper."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.simulation.scenario import play
from odradek.simulation.world import World
from tests.kafka.server.stage import ClusterStage

STORIES = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_story_goes_as_it_is_told(path: Path) -> None:
    with World(seed=1) as world:
        play(path, ClusterStage(world))
