"""The dead do nothing: no code of a killed node leaves a mark on the world."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from odradek.runtime.disk import Disk, File
from odradek.simulation.errors import Killed
from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from tests.simulation.two_hosts import two_hosts


async def wait_for_ever(environment: Environment) -> None:
    await asyncio.Event().wait()


async def hold_all_it_can(environment: Environment) -> None:
    """A node whose every way out tries to leave a mark."""
    disk = environment.disk
    journal = disk.open("/journal", create=True)
    _, writer = await asyncio.open_connection("b", 7)

    async def number() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            environment.narrate("leaves its generator")

    async def unwind() -> None:
        try:
            async for _ in number():
                await asyncio.Event().wait()
        finally:
            environment.narrate("unwinds")
            writer.write(b"goodbye")
            asyncio.get_running_loop().call_soon(environment.narrate, "calls back")
            asyncio.create_task(wait_for_ever(environment))  # noqa: RUF006
            journal.append(b"goodbye")

    tasks = [asyncio.create_task(unwind()) for _ in range(3)]
    try:
        await asyncio.gather(*tasks)
    finally:
        await asyncio.sleep(1)
        environment.narrate("cleans up")


@pytest.mark.parametrize("how", ["kill", "power_off"])
def test_the_dead_leave_no_mark(how: str) -> None:
    heard: list[bytes] = []

    async def listen(environment: Environment) -> None:
        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            heard.append(await reader.read())
            writer.close()

        server = await asyncio.start_server(take, None, 7)
        await server.serve_forever()

    with World() as world:
        world.host("b").start(listen)
        world.run_for(1)
        world.host("a").start(hold_all_it_can)
        world.run_for(1)
        getattr(world.host("a"), how)()
        world.run_for(100)
        assert heard == ([b""] if how == "kill" else [])
        assert world.narration == []
        reborn = world.host("a").start(read_journal)
        world.run_for(1)
        assert reborn.result in (b"", None)


async def read_journal(environment: Environment) -> bytes | None:
    if not environment.disk.exists("/journal"):
        return None
    with environment.disk.open("/journal") as journal:
        return journal.pread(0, 100)


def test_a_task_that_never_began_dies_in_silence() -> None:
    async def main(environment: Environment) -> None:
        tasks = [asyncio.create_task(asyncio.sleep(number)) for number in range(3)]
        environment.narrate("is about to die")
        await asyncio.gather(*tasks)

    with World() as world:
        world.host("a").start(main)
        world.run_until(lambda: world.narration)
        world.host("a").kill()
        world.run_for(10)


def test_the_timers_of_the_dead_are_forgotten() -> None:
    async def main(environment: Environment) -> None:
        asyncio.get_running_loop().call_later(1_000_000, environment.narrate, "is back")
        await asyncio.Event().wait()

    with World() as world:
        world.host("a").start(main)
        world.run_for(1)
        world.host("a").kill()
        assert world.schedule.is_idle


def test_a_node_can_be_killed_from_inside_its_own_code() -> None:
    with World() as world:

        async def main(environment: Environment) -> None:
            await asyncio.sleep(1)
            try:
                world.host("a").kill()
                environment.narrate("speaks from the grave")
                await asyncio.sleep(1)
            finally:
                environment.narrate("and again")

        process = world.host("a").start(main)
        world.run_for(10)
        assert process.is_dead
        assert world.narration == []


def test_what_a_dead_process_had_open_is_closed_to_it() -> None:
    held: list[Disk | File] = []

    async def main(environment: Environment) -> None:
        environment.disk.lock_directory("/")
        held.append(environment.disk)
        held.append(environment.disk.open("/file", create=True))
        await asyncio.Event().wait()

    with World() as world:
        world.host("a").start(main)
        world.run_for(1)
        world.host("a").kill()
        world.host("a").start()  # It gets the lock, which died with its owner.
        world.run_for(1)
        disk, file = held[:2]
        assert isinstance(disk, Disk)
        assert isinstance(file, File)
        with pytest.raises(Killed):
            disk.exists("/file")
        with pytest.raises(Killed):
            file.append(b"x")
        file.close()


def test_a_connection_of_the_dead_is_closing() -> None:
    with two_hosts() as (world, pair):
        world.host("near").kill()
        assert pair.near.transport.is_closing()
        pair.near.transport.write(b"x")
        world.run_for(1)
        assert pair.far.data == b""
        assert pair.near.calls == ["made"]
