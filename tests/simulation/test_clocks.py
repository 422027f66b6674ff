"""The clocks of hosts, which do not agree."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.clock import wall_clock_ms
from odradek.simulation.clocks import EPOCH_MS, HostClock
from odradek.simulation.processes import Environment
from odradek.simulation.schedule import SECOND_NS, Schedule
from odradek.simulation.world import World


async def tell_the_time(environment: Environment) -> tuple[float, int]:
    loop = asyncio.get_running_loop()
    started, wall_ms = loop.time(), wall_clock_ms()
    await asyncio.sleep(10)
    return loop.time() - started, wall_clock_ms() - wall_ms


def test_a_wall_clock_can_be_set_and_the_steady_one_cannot() -> None:
    with World() as world:
        process = world.host("a").start(tell_the_time)
        world.run_for(5)
        world.host("a").clock.set_wall_forward(-3600)
        assert world.run_to_end(process) == (pytest.approx(10), 10_000 - 3_600_000)


def test_a_host_whose_clock_runs_fast_is_ready_early() -> None:
    with World() as world:
        processes = {}
        for rate in (1.25, 1.0, 0.8):
            host = world.host(f"host at {rate}")
            host.clock.run_at(rate)
            processes[rate] = host.start(tell_the_time)
        for rate, process in processes.items():
            told = world.run_to_end(process)
            assert told == (pytest.approx(10), pytest.approx(10_000, abs=1))
            assert world.now_s == 10 / rate


def test_two_hosts_do_not_share_a_steady_clock() -> None:
    with World() as world:
        assert world.host("a").clock.time() != world.host("b").clock.time()
        assert world.host("a").clock.wall_ms() == world.host("b").clock.wall_ms() == EPOCH_MS


def test_a_thread_has_the_wall_clock_of_its_host() -> None:
    async def main(environment: Environment) -> int:
        return await asyncio.to_thread(wall_clock_ms)

    with World() as world:
        world.host("a").clock.set_wall_forward(100)
        assert world.run_to_end(world.host("a").start(main)) == EPOCH_MS + 100_000


@given(
    boot_s=st.integers(0, 1_000_000),
    rate=st.floats(0.5, 2.0),
    delays=st.lists(st.floats(0, 100), min_size=1, max_size=20),
)
def test_whoever_waits_for_a_time_gets_there(boot_s: int, rate: float, delays: list[float]) -> None:
    schedule = Schedule(Random(0))
    clock = HostClock(schedule, boot_s)
    clock.run_at(rate)
    for delay in delays:
        when = clock.time() + delay
        rounds = 0
        while clock.time() < when:
            schedule.pass_time(clock.moment_ns(when))
            rounds += 1
        assert rounds <= 3
        assert clock.time() - when < 1e-6 + 1 / SECOND_NS
