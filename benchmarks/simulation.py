"""How fast the simulated world runs: `python -m benchmarks.simulation`.

Each figure is the best of three, in seconds of this process: what others do is not our speed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from time import process_time

from odradek.simulation.processes import Environment
from odradek.simulation.world import World, run

ROUNDS = 3
HANDLES = 200_000
CONNECTIONS = 20
PORT = 7


async def beat(environment: Environment) -> None:
    while True:
        await asyncio.sleep(1)


async def spin(environment: Environment) -> None:
    for _ in range(HANDLES):
        await asyncio.sleep(0)


class Echo(asyncio.Protocol):
    """Sends back what it gets, and counts it."""

    received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._write = transport.write

    def data_received(self, data: bytes) -> None:
        Echo.received += 1
        self._write(data)


async def serve(environment: Environment) -> None:
    server = await asyncio.get_running_loop().create_server(Echo, None, PORT)
    await server.serve_forever()


async def talk(environment: Environment) -> None:
    loop = asyncio.get_running_loop()
    for _ in range(CONNECTIONS):
        transport, _ = await loop.create_connection(Echo, "server", PORT)
        transport.write(bytes(100))
    await asyncio.Event().wait()


def idle_hour_s(nodes: int) -> float:
    with World() as world:
        for number in range(nodes):
            world.host(f"node {number}").start(beat)
        started = process_time()
        world.run_for(3600)
        return process_time() - started


def messages_per_second(is_traced: bool) -> float:
    with World(is_traced=is_traced) as world:
        world.host("server").start(serve)
        world.run_for(1)
        world.host("client").start(talk)
        world.run_for(1)
        Echo.received = 0
        started = process_time()
        world.run_for(1)
        return Echo.received / (process_time() - started)


def spinning_s() -> float:
    started = process_time()
    run(spin)
    return process_time() - started


def best(measure: Callable[[], float]) -> list[float]:
    return sorted(measure() for _ in range(ROUNDS))


def main() -> None:
    print(f"{HANDLES / best(spinning_s)[0]:>12,.0f} handles a second")
    print(f"{best(partial(messages_per_second, False))[-1]:>12,.0f} messages a second")
    print(f"{best(partial(messages_per_second, True))[-1]:>12,.0f} messages a second, traced")
    for nodes in (10, 100):
        hour_s = best(partial(idle_hour_s, nodes))[0]
        rate = nodes * 3600 / hour_s
        print(f"{hour_s:>12.2f} s for an idle hour of {nodes} nodes: {rate:,.0f} timers a second")


if __name__ == "__main__":
    main()
