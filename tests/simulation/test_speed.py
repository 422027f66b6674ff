"""Virtual time is cheap: nobody waits for it."""

from __future__ import annotations

import asyncio
from time import process_time

from odradek.simulation.processes import Environment
from odradek.simulation.world import World


async def beat(environment: Environment) -> None:
    while True:
        await asyncio.sleep(1)


def test_an_idle_hour_of_ten_nodes_takes_less_than_a_second() -> None:
    with World() as world:
        for number in range(10):
            world.host(f"node {number}").start(beat)
        started = process_time()
        world.run_for(3600)
        assert process_time() - started < 1.0
