"""Whatever happens to the network, nobody believes to hold a lock that another holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from odradek.runtime.properties import Properties
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.place import Place
from odradek.zookeeper.client.recipes import Lock
from odradek.zookeeper.client.states import State
from odradek.zookeeper.server.node import ZooKeeperNode
from odradek.zookeeper.settings import ZooKeeperSettings

CLIENTS = ["ann", "bob", "cid", "dan"]
TURNS = 5
ZOO_CFG = b"tickTime=500\ndataDir=/data\nclientPort=2181\nmaxClientCnxns=0\n"


async def serve(environment: Environment) -> None:
    settings = ZooKeeperSettings(Properties.parse(ZOO_CFG, "zoo.cfg"))
    await ZooKeeperNode(settings, environment.disk, environment.random).start()
    await asyncio.Event().wait()


class Rivals:
    """Clients that want the same lock; `holders` are those who believe to have it."""

    def __init__(self) -> None:
        self.holders: list[str] = []
        self.turns = 0

    async def compete(self, environment: Environment) -> None:
        random = environment.random
        client = ZooKeeperClient("server", random=random, session_timeout_ms=6000)
        for _ in range(TURNS):
            while not await self._take_turn(client, environment):
                await asyncio.sleep(0.2)
        await client.close()

    async def _take_turn(self, client: ZooKeeperClient, environment: Environment) -> bool:
        """Hold the lock for some seconds, unless it is lost before; whether it came to that."""
        lock = Lock(client, "/lock", random=environment.random)
        try:
            if client.state in (State.CLOSED, State.LOST):
                await client.connect()
            async with await lock.acquire() as held:
                await self._hold(held, environment)
        except ZooKeeperError:
            return False
        return True

    async def _hold(self, held: Place, environment: Environment) -> None:
        self.holders.append(environment.name)
        assert self.holders == [environment.name]
        waiting = asyncio.create_task(held.until_lost())
        await asyncio.wait([waiting], timeout=environment.random.uniform(0, 9))
        waiting.cancel()
        self.holders.remove(environment.name)
        self.turns += 1


def break_links(world: World, is_over: Callable[[], bool]) -> None:
    """Break a client's connection, or cut one way of it, now and every few seconds."""
    random = world.stream("network faults")

    def strike() -> None:
        name, delay_s = random.choice(CLIENTS), random.uniform(0.1, 10)
        match random.choice(["reset", "deaf", "mute"]):
            case "reset":
                world.network.reset(name, "server")
            case "deaf":
                world.network.cut("server", name)
                world.after(delay_s, lambda: world.network.heal("server", name))
            case "mute":
                world.network.cut(name, "server")
                world.after(delay_s, lambda: world.network.heal(name, "server"))
        if not is_over():
            world.after(random.uniform(0.1, 3), strike)

    world.after(2, strike)


# Seeds with which a lock that is never in doubt has two holders.
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_a_lock_has_one_holder_at_a_time(seed: int) -> None:
    rivals = Rivals()
    with World(seed) as world:
        world.host("server").start(serve)
        clients = [world.host(name).start(rivals.compete) for name in CLIENTS]
        break_links(world, lambda: all(client.is_dead for client in clients))
        world.run_until(lambda: all(client.is_dead for client in clients))
    assert rivals.turns >= TURNS * len(CLIENTS)
