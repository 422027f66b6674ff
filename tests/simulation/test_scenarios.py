"""The stories in `scenarios/`, played by keepers and watchers."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from odradek.simulation.processes import Environment
from odradek.simulation.scenario import play
from odradek.simulation.stage import Stage
from odradek.simulation.world import World
from tests.simulation import journal

STORIES = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))


class JournalStage(Stage):
    """The verbs of the journal's stories."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        world.host("client")

    def keeper(self, name: str) -> None:
        """Start a keeper."""
        self._world.host(name).start(journal.keep)
        self._world.run_for(1)

    def watcher(self, name: str, *, of: str) -> None:
        """Start a watcher of a keeper."""
        self._world.host(name).start(journal.watch(of))

    def write(self, line: str, *, to: str, patience: float = 5.0) -> None:
        """Have a client ask a keeper to keep a line, and tell what it hears."""
        client = self._world.host("client")
        self._world.run_to_end(client.start(partial(tell_answer, to, line, patience)))


async def tell_answer(keeper: str, line: str, patience: float, environment: Environment) -> None:
    try:
        async with asyncio.timeout(patience):
            environment.narrate(f"hears {await journal.ask(keeper, line)}")
    except OSError as error:
        environment.narrate(f"hears {type(error).__name__}")


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_the_story_goes_as_it_is_told(path: Path) -> None:
    with World(seed=1) as world:
        play(path, JournalStage(world))
