"""How nodes live, pause and end."""

from __future__ import annotations

import asyncio
import signal

import pytest

from odradek.runtime.disk import DiskBroken
from odradek.simulation.errors import NodeFailed
from odradek.simulation.processes import Environment
from odradek.simulation.world import World


async def wait_for_ever(environment: Environment) -> None:
    await asyncio.Event().wait()


def test_a_node_ends_when_its_main_returns_and_its_tasks_are_cancelled() -> None:
    cancelled: list[str] = []

    async def linger() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("linger")
            raise

    async def main(environment: Environment) -> str:
        task = asyncio.create_task(linger())
        await asyncio.sleep(1)
        assert not task.done()
        return "done"

    with World() as world:
        assert world.run_to_end(world.host("a").start(main)) == "done"
    assert cancelled == ["linger"]


def test_an_error_of_main_is_raised_to_whoever_runs_the_world() -> None:
    async def main(environment: Environment) -> None:
        await asyncio.sleep(1)
        raise ArithmeticError("a bug")

    with World() as world:
        world.host("a").start(main)
        with pytest.raises(NodeFailed, match="a: its main failed: ArithmeticError") as caught:
            world.run_for(10)
        assert not world.host("a").is_running
    assert isinstance(caught.value.__cause__, ArithmeticError)


def test_an_error_that_nobody_awaits_is_raised_too() -> None:
    async def main(environment: Environment) -> None:
        asyncio.get_running_loop().call_later(1, divmod, 1, 0)
        await asyncio.sleep(10)

    with World() as world:
        world.host("a").start(main)
        with pytest.raises(NodeFailed, match="ZeroDivisionError"):
            world.run_for(10)


def test_a_node_may_die_of_what_it_is_allowed_to() -> None:
    async def main(environment: Environment) -> None:
        raise DiskBroken("/data", "Input/output error")

    with World() as world:
        process = world.host("a").start(main, may_die_of=(DiskBroken,))
        world.run_for(1)
        assert process.is_dead


def test_a_paused_node_finds_its_timers_overdue() -> None:
    beats: list[float] = []

    async def beat(environment: Environment) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        while True:
            await asyncio.sleep(1)
            beats.append(round(loop.time() - start, 3))

    with World() as world:
        world.host("a").start(beat)
        world.run_for(2.5)
        world.host("a").pause()
        world.run_for(10)
        assert beats == [1, 2]
        world.host("a").resume()
        world.run_for(1.5)
        assert beats == [1, 2, 12.5, 13.5]


def test_a_pause_that_outlives_a_timeout_is_noticed_at_its_end() -> None:
    async def main(environment: Environment) -> str:
        try:
            async with asyncio.timeout(5):
                await asyncio.Event().wait()
        except TimeoutError:
            return "timed out"
        return "never"

    with World() as world:
        process = world.host("a").start(main)
        world.run_for(1)
        world.host("a").pause()
        world.run_for(20)
        assert not process.is_dead
        world.host("a").resume()
        world.run_for(0)
        assert process.result == "timed out"


def test_a_node_can_be_asked_to_end() -> None:
    async def main(environment: Environment) -> str:
        asked = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, asked.set)
        await asked.wait()
        await asyncio.sleep(1)
        return "in order"

    with World() as world:
        process = world.host("a").start(main)
        world.run_for(1)
        world.host("a").terminate()
        world.run_for(2)
        assert process.is_dead
        assert process.result == "in order"


def test_a_node_that_does_not_listen_dies_of_being_asked() -> None:
    with World() as world:
        process = world.host("a").start(wait_for_ever)
        world.run_for(1)
        world.host("a").terminate()
        assert process.is_dead


def test_a_dead_node_can_start_anew_and_gets_other_chances() -> None:
    draws: list[float] = []

    async def main(environment: Environment) -> None:
        draws.append(environment.random.random())
        await asyncio.Event().wait()

    with World() as world:
        for _ in range(3):
            world.host("a").start(main)
            world.run_for(1)
            world.host("a").kill()
    assert len(set(draws)) == 3
