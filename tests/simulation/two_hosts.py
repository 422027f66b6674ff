"""Two hosts with a connection between them, whose ends a test can take in its hands."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from odradek.simulation.processes import Environment, Main
from odradek.simulation.world import World
from tests.simulation.recorder import Connection, Recorder

PORT = 7


def listen(ends: list[Recorder]) -> Main:
    """A node that takes what comes, and keeps it in the list."""

    def take() -> Recorder:
        ends.append(Recorder())
        return ends[-1]

    async def main(environment: Environment) -> None:
        server = await asyncio.get_running_loop().create_server(take, None, PORT)
        await server.serve_forever()

    return main


def call(host: str, ends: list[Recorder]) -> Main:
    """A node that connects, puts its end into the list and stays."""

    async def main(environment: Environment) -> None:
        _, end = await asyncio.get_running_loop().create_connection(Recorder, host, PORT)
        ends.append(end)
        await asyncio.Event().wait()

    return main


@contextmanager
def two_hosts(seed: int = 0) -> Iterator[tuple[World, Connection]]:
    """A world in which host `near` has connected to host `far`."""
    near: list[Recorder] = []
    far: list[Recorder] = []
    with World(seed, is_traced=True) as world:
        world.host("far").start(listen(far))
        world.run_for(1)
        world.host("near").start(call("far", near))
        world.run_until(lambda: near and far and "made" in far[0].calls)
        yield world, Connection(near[0], far[0])
