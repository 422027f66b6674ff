"""Whatever happens to servers and network, every request ends, and the client finds its way."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest

from odradek.simulation.processes import Environment, Process
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ConnectionLoss
from tests.zookeeper.client.scripted import ScriptedServer

SERVERS = ["server0", "server1", "server2"]
WORKERS = 10
REQUESTS = 300


class Chaos:
    """Breaks something every second or so, and mends it later, until the client is done."""

    def __init__(self, world: World, client: Process) -> None:
        self._world = world
        self._client = client
        self._random: Random = world.stream("chaos")

    def strike(self) -> None:
        if self._client.is_dead:
            return
        name, delay_s = self._random.choice(SERVERS), self._random.uniform(0.1, 8)
        world, host = self._world, self._world.host(name)
        match self._random.choice(["reset", "cut", "pause", "kill"]):
            case "reset":
                world.network.reset("client", name)
            case "cut":
                world.network.cut("client", name)
                world.after(delay_s, lambda: world.network.heal("client", name))
            case "pause":
                host.pause()
                world.after(delay_s, host.resume)
            case "kill":
                host.kill()
                world.after(delay_s, host.start_again)
        world.after(self._random.uniform(0.05, 2), self.strike)


async def work(client: ZooKeeperClient, worker: int, outcomes: Counter[str]) -> None:
    for number in range(REQUESTS):
        path = f"/{worker}-{number}"
        try:
            assert await client.create(path) == path
            outcomes["created"] += 1
        except ConnectionLoss:
            outcomes["uncertain"] += 1
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("seed", range(5))
def test_every_request_ends_whatever_happens(seed: int) -> None:
    outcomes: Counter[str] = Counter()

    async def main(environment: Environment) -> None:
        client = ZooKeeperClient(
            ",".join(SERVERS), random=environment.random, session_timeout_ms=6000
        )
        async with client:
            await asyncio.gather(*(work(client, worker, outcomes) for worker in range(WORKERS)))

    with World(seed) as world:
        for name in SERVERS:
            world.host(name).start(ScriptedServer().serve)
        client = world.host("client").start(main)
        world.after(1, Chaos(world, client).strike)
        world.run_until(lambda: client.is_dead)
    assert outcomes.total() == WORKERS * REQUESTS
    assert outcomes["created"] > outcomes["uncertain"]
