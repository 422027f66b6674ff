"""How a world runs, and how it says that it cannot go on."""

from __future__ import annotations

import asyncio
import gc

import pytest

from odradek.runtime.clock import wall_clock_ms
from odradek.simulation import schedule
from odradek.simulation.errors import Deadlock, OutOfTime, Spinning
from odradek.simulation.processes import Environment
from odradek.simulation.world import World, run


async def beat(environment: Environment) -> None:
    while True:
        await asyncio.sleep(1)
        environment.narrate("beats")


async def wait_for_a_miracle(environment: Environment) -> None:
    await asyncio.Event().wait()


def test_time_passes_as_told_whether_or_not_anything_happens() -> None:
    with World() as world:
        world.run_for(1.5)
        assert world.now_s == 1.5
        world.host("a").start(beat)
        world.run_for(2.5)
        assert world.now_s == 4.0
        assert world.narration == ["a beats", "a beats"]


def test_a_world_runs_until_a_condition_holds_and_no_further() -> None:
    with World() as world:
        world.host("a").start(beat)
        world.run_until(lambda: len(world.narration) == 3)
        assert world.now_s == 3.0


def test_things_happen_to_a_world_at_their_time() -> None:
    seen: list[float] = []
    with World() as world:
        world.after(2, lambda: seen.append(world.now_s))
        world.after(1, lambda: seen.append(world.now_s))
        world.after(1.5, lambda: seen.append(world.now_s)).cancel()
        world.run_for(10)
    assert seen == [1.0, 2.0]


def test_waiting_for_what_cannot_happen_is_a_deadlock_that_names_who_waits() -> None:
    with World() as world:
        world.host("a").start(wait_for_a_miracle)
        world.host("b")
        with pytest.raises(Deadlock, match=r"a waits: a main in .*line \d+\nb is not running"):
            world.run_until(lambda: False)


def test_a_paused_node_is_named_in_a_deadlock() -> None:
    with World() as world:
        world.host("a").start(wait_for_a_miracle)
        world.host("a").pause()
        with pytest.raises(Deadlock, match="a is paused"):
            world.run_until(lambda: False)


def test_waiting_too_long_is_an_error() -> None:
    with World() as world:
        world.host("a").start(beat)
        with pytest.raises(OutOfTime, match="not within 60 virtual seconds"):
            world.run_until(lambda: False, limit_s=60)


def test_a_node_that_spins_without_time_passing_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def spin(environment: Environment) -> None:
        while True:
            await asyncio.sleep(0)

    monkeypatch.setattr(schedule, "TURNS_AT_ONCE_MAX", 10_000)
    with World() as world:
        world.host("a").start(spin)
        with pytest.raises(Spinning, match="<a>"):
            world.run_for(1)


def test_a_world_settles_when_nothing_more_is_told() -> None:
    async def count(environment: Environment) -> None:
        for number in range(5):
            await asyncio.sleep(number)
            environment.narrate(str(number))
        while True:
            await asyncio.sleep(1)

    with World() as world:
        world.host("a").start(count)
        world.settle()
        assert world.narration == ["a 0", "a 1", "a 2", "a 3", "a 4"]
        assert world.now_s < 40
        world.host("a").kill()
        world.host("b").start(beat)
        with pytest.raises(OutOfTime, match="still something to tell"):
            world.settle()


def test_one_node_can_run_in_a_world_of_its_own() -> None:
    async def main(environment: Environment) -> tuple[str, int]:
        await asyncio.sleep(3600)
        return environment.address, wall_clock_ms()

    assert run(main) == ("10.0.0.1", 1_704_067_200_000 + 3_600_000)


def test_nodes_that_are_ready_at_once_go_in_the_order_of_the_seed() -> None:
    def order(seed: int) -> str:
        with World(seed) as world:
            for name in "abcd":
                world.host(name).start(beat)
            world.run_for(1)
            return "".join(line[0] for line in world.narration)

    orders = [order(seed) for seed in range(20)]
    assert len(set(orders)) > 5
    assert orders == [order(seed) for seed in range(20)]


def test_the_garbage_collector_waits_for_the_world() -> None:
    assert gc.isenabled()
    with World():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_was_cancelled_is_forgotten() -> None:
    async def rearm(environment: Environment) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(100_000):
            loop.call_later(1_000, print).cancel()
        await asyncio.sleep(100)

    with World() as world:
        world.host("a").start(rearm)
        world.run_for(1)
        assert len(world.schedule._waiting) < 10_000
