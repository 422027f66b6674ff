"""Time is over for each when it is, whoever else waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.kafka.broker.deadlines import LINES_MAX, Deadlines
from odradek.simulation.processes import Environment
from odradek.simulation.world import World


class Waiting:
    """One who waits, and notes when it was told."""

    def __init__(self, told: list[tuple[str, float]], name: str = "") -> None:
        self._told = told
        self._name = name

    def expire(self) -> None:
        self._told.append((self._name, round(asyncio.get_running_loop().time(), 3)))


def tell(story: Callable[[Deadlines, list[tuple[str, float]]], Awaitable[None]]) -> None:
    async def main(_: Environment) -> None:
        await story(Deadlines(asyncio.get_running_loop()), [])

    with World(1) as world:
        world.run_to_end(world.host("broker").start(main))


def test_who_waits_equally_long_is_told_in_order_and_each_in_time() -> None:
    async def story(deadlines: Deadlines, told: list[tuple[str, float]]) -> None:
        start_s = asyncio.get_running_loop().time()
        for name in "abc":
            deadlines.enter(Waiting(told, name), 5.0)
            await asyncio.sleep(1)
        await asyncio.sleep(10)
        assert [(name, round(at_s - start_s, 1)) for name, at_s in told] == [
            ("a", 5.0),
            ("b", 6.0),
            ("c", 7.0),
        ]

    tell(story)


def test_who_has_left_is_not_told_and_those_behind_are() -> None:
    async def story(deadlines: Deadlines, told: list[tuple[str, float]]) -> None:
        first = Waiting(told, "first")
        line = deadlines.enter(first, 5.0)
        deadlines.enter(Waiting(told, "second"), 5.0)
        deadlines.leave(line, first)
        await asyncio.sleep(6)
        assert [name for name, _ in told] == ["second"]

    tell(story)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.booleans()), max_size=20))
def test_all_are_told_as_if_each_had_a_timer(waits: list[tuple[int, int, bool]]) -> None:
    async def story(deadlines: Deadlines, told: list[tuple[str, float]]) -> None:
        loop, expected = asyncio.get_running_loop(), []
        for number, (pause_s, timeout_s, leaves) in enumerate(waits):
            await asyncio.sleep(pause_s)
            waiting = Waiting(told, str(number))
            line = deadlines.enter(waiting, timeout_s)
            if leaves:
                deadlines.leave(line, waiting)
            else:
                expected.append((str(number), round(loop.time() + timeout_s, 3)))
        await asyncio.sleep(10)
        assert sorted(told) == sorted(expected)

    tell(story)


def test_lines_in_which_nobody_stands_do_not_pile_up() -> None:
    async def story(deadlines: Deadlines, told: list[tuple[str, float]]) -> None:
        for timeout_s in range(1, 10 * LINES_MAX):
            waiting = Waiting(told)
            deadlines.leave(deadlines.enter(waiting, timeout_s), waiting)
        assert len(deadlines) <= LINES_MAX + 1
        await asyncio.sleep(20 * LINES_MAX)
        assert not told and not len(deadlines)

    tell(story)
