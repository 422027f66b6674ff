"""A loop that serves a crowd sleeps a moment where more is answered that way, and only there."""

from __future__ import annotations

import asyncio

from odradek.runtime.gathering import Gathering
from odradek.simulation.processes import Environment
from odradek.simulation.world import run

AT_ONCE = 10_000  # So many answers leave together that no machine is too slow to be tried.


class Crowd:
    """Asks as much as is answered, and more after a pause."""

    def __init__(self) -> None:
        self.pauses = 0
        self._gathering = Gathering(self._pause)

    async def ask(self) -> None:
        before = self.pauses
        self._gathering.answered(AT_ONCE)
        await asyncio.sleep(0)
        if self.pauses > before:
            self._gathering.answered(AT_ONCE)

    def _pause(self, seconds: float) -> None:
        self.pauses += 1


def test_it_pauses_as_long_as_more_is_answered_after_a_pause() -> None:
    async def story() -> None:
        crowd = Crowd()
        while crowd.pauses < 1000:
            await crowd.ask()

    asyncio.run(asyncio.wait_for(story(), timeout=60))


def test_in_a_simulation_it_never_pauses() -> None:
    async def story(environment: Environment) -> int:
        crowd = Crowd()
        for _ in range(1000):
            await crowd.ask()
        return crowd.pauses

    assert run(story) == 0
