"""The stories in `scenarios/`, played by whole servers; REWRITE=1 writes their narration anew."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from odradek.simulation.scenario import play
from odradek.simulation.world import World
from tests.zookeeper.server.stage import EnsembleStage, Teller

STORIES = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_story_goes_as_it_is_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "odradek")
    log = logging.getLogger("odradek")
    with World(seed=1) as world:
        teller = Teller(world)
        log.addHandler(teller)
        try:
            play(path, EnsembleStage(world, teller))
        finally:
            log.removeHandler(teller)
    assert "differs from the leader's" not in caplog.text
