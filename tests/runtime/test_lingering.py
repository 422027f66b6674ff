"""A loop that has answered is awake for a moment, and sleeps when nothing comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from selectors import DefaultSelector, SelectorKey

from odradek.runtime.lingering import LINGER_S, Lingering
from odradek.runtime.patience import HOPE_MAX
from odradek.simulation.processes import Environment
from odradek.simulation.world import run


class Watched(DefaultSelector):
    """Counts how often the loop looked without sleeping."""

    looks = 0

    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        self.looks += timeout == 0
        return super().select(timeout)


def looks_after(answers: int, pause_s: float = 20 * LINGER_S) -> list[int]:
    """How often the loop looks after each of so many answers, with long pauses between them."""
    selector, found = Watched(), []
    loop = asyncio.SelectorEventLoop(selector)

    async def begin() -> Callable[[], None]:
        return Lingering().answered

    try:
        answered = loop.run_until_complete(begin())
        for _ in range(answers):
            before = selector.looks
            loop.call_soon(answered)
            loop.call_later(pause_s, loop.stop)
            loop.run_forever()
            found.append(selector.looks - before)
    finally:
        loop.close()
    return found


def test_it_looks_again_and_again_then_sleeps_and_at_last_gives_up() -> None:
    """Only on a machine that is busy with others it does not: then another try shows it."""

    def is_seen() -> bool:
        looks = looks_after(answers=HOPE_MAX + 4)
        return min(looks[:HOPE_MAX]) > 5 and max(looks[HOPE_MAX:]) < 5

    assert any(is_seen() for _ in range(100))


def test_in_a_simulation_it_sleeps_at_once() -> None:
    async def story(environment: Environment) -> float:
        Lingering().answered()
        await asyncio.sleep(1)  # Time passes only when nothing else is left to do.
        return asyncio.get_running_loop().time()

    assert run(story) >= 1
