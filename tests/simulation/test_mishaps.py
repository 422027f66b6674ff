"""Four mishaps, each from a seed: what it does is seen, and seen again with an equal trace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from odradek.simulation.processes import Environment
from odradek.simulation.world import World

PORT = 9
LINE = b"a line that is longer than a few bytes"


async def write_unsynced(environment: Environment) -> None:
    """Make a file that lasts, and write into it what need not."""
    file = environment.disk.open("/file", create=True)
    environment.disk.sync_directory("/")
    file.append(LINE)
    await asyncio.Event().wait()


def left_by_a_loss_of_power(world: World) -> bytes:
    host = world.host("host")
    host.start(write_unsynced)
    world.run_for(1)
    host.power_off()
    found: list[bytes] = []

    async def look(environment: Environment) -> None:
        found.append(environment.disk.open("/file").pread(0, 100))

    world.run_to_end(host.start(look))
    return found[0]


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line)


async def serve(environment: Environment) -> None:
    async with await asyncio.start_server(answer, None, PORT) as server:
        await server.serve_forever()


class Asker:
    """Asks once a second, and notes what it hears, with a patience of three seconds."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def ask(self, environment: Environment) -> None:
        reader, writer = await asyncio.open_connection("server", PORT)
        while True:
            writer.write(b"there?\n")
            try:
                async with asyncio.timeout(3):
                    await reader.readline()
                self.heard.append("answer")
            except TimeoutError:
                self.heard.append("silence")
            await asyncio.sleep(1)


def asked(world: World) -> Asker:
    asker = Asker()
    world.host("server").start(serve)
    world.run_for(1)
    world.host("client").start(asker.ask)
    world.run_until(lambda: len(asker.heard) == 3)
    return asker


def lost_write(world: World) -> None:
    assert left_by_a_loss_of_power(world) == b""


def torn_write(world: World) -> None:
    left = left_by_a_loss_of_power(world)
    assert left not in (b"", LINE)


def cut_that_heals(world: World) -> None:
    asker = asked(world)
    world.network.cut("client", "server")
    world.run_until(lambda: "silence" in asker.heard)
    world.network.heal("client", "server")
    world.run_for(10)
    assert asker.heard[-3:] == ["answer"] * 3


def pause_that_outlives_a_timeout(world: World) -> None:
    asker = asked(world)
    world.host("server").pause()
    world.run_for(2)
    assert "silence" not in asker.heard
    world.run_for(5)
    assert "silence" in asker.heard
    world.host("server").resume()
    world.run_for(10)
    assert asker.heard[-3:] == ["answer"] * 3


Mishap = Callable[[World], None]


def trace_of(mishap: Mishap, seed: int) -> list[str]:
    with World(seed, is_traced=True) as world:
        mishap(world)
        return list(world.trace.lines)


@pytest.mark.parametrize(
    ("mishap", "seed"),
    [(lost_write, 0), (torn_write, 4), (cut_that_heals, 1), (pause_that_outlives_a_timeout, 2)],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_mishap_happens_twice_alike(mishap: Mishap, seed: int) -> None:
    first, second = trace_of(mishap, seed), trace_of(mishap, seed)
    assert first == second
    assert len(first) >= 5
