"""Calls in threads: they take effect at one moment and return at another."""

from __future__ import annotations

import asyncio

from odradek.simulation.processes import Environment
from odradek.simulation.world import World


async def sync_a_file(environment: Environment) -> None:
    disk = environment.disk
    file = disk.open("/file", create=True)
    disk.sync_directory("/")
    file.append(b"x")
    environment.narrate("syncs")
    await asyncio.to_thread(file.sync)
    environment.narrate("has synced")


async def beat(environment: Environment) -> None:
    task = asyncio.create_task(sync_a_file(environment))
    while not task.done():
        await asyncio.sleep(1)
        environment.narrate("beats")


def test_a_slow_sync_does_not_stop_the_loop() -> None:
    with World() as world:
        world.host("a").storage.device.slowness = 3000
        world.run_to_end(world.host("a").start(beat))
        assert world.narration[0] == "a syncs"
        assert "a beats" in world.narration[1:-2]
        assert "a has synced" in world.narration[2:]


def test_a_sync_on_the_loop_does() -> None:
    async def main(environment: Environment) -> None:
        asyncio.get_running_loop().call_later(0.001, environment.narrate, "is late")
        asyncio.get_running_loop().call_soon(environment.narrate, "is late too")
        file = environment.disk.open("/file", create=True)
        file.sync()
        await asyncio.sleep(1)

    with World(is_traced=True) as world:
        world.host("a").storage.device.slowness = 3000
        world.run_to_end(world.host("a").start(main))
        late = [line for line in world.trace.lines if "is late" in line]
        assert all(float(line.split()[0]) > 0.5 for line in late)
        assert len(late) == 2


def test_a_crash_may_come_between_the_effect_and_the_news_of_it() -> None:
    with World(is_traced=True) as world:
        host = world.host("a")
        host.storage.device.slowness = 3000
        host.start(beat)
        world.run_until(lambda: any("a syncs /file" in line for line in world.trace.lines))
        host.power_off()
        assert "a has synced" not in world.narration
        assert host.storage.tree.file("/file").read(0, 10) == b"x"


def test_a_call_that_was_not_made_yet_dies_with_its_process() -> None:
    seen: list[str] = []

    async def main(environment: Environment) -> None:
        environment.narrate("calls")
        await asyncio.to_thread(seen.append, "called")

    with World() as world:
        world.host("a").start(main)
        world.run_until(lambda: world.narration)
        world.host("a").kill()
        world.run_for(1)
    assert seen == []


def test_a_paused_process_makes_no_calls() -> None:
    seen: list[str] = []

    async def main(environment: Environment) -> None:
        environment.narrate("calls")
        await asyncio.to_thread(seen.append, "called")

    with World() as world:
        world.host("a").start(main)
        world.run_until(lambda: world.narration)
        world.host("a").pause()
        world.run_for(10)
        assert seen == []
        world.host("a").resume()
        world.run_for(1)
    assert seen == ["called"]


def test_calls_overtake_each_other_as_threads_do() -> None:
    async def main(environment: Environment) -> list[int]:
        seen: list[int] = []
        await asyncio.gather(*(asyncio.to_thread(seen.append, n) for n in range(10)))
        return seen

    with World() as world:
        seen = world.run_to_end(world.host("a").start(main))
    assert seen != list(range(10))
    assert sorted(seen) == list(range(10))


def test_a_call_that_is_given_up_before_it_began_is_not_made() -> None:
    async def main(environment: Environment) -> list[str]:
        seen: list[str] = []
        call = asyncio.get_running_loop().run_in_executor(None, seen.append, "called")
        call.cancel()
        await asyncio.sleep(1)
        return seen

    with World() as world:
        assert world.run_to_end(world.host("a").start(main)) == []


def test_what_a_thread_asks_the_loop_for_is_done_when_its_call_has_cost_what_it_costs() -> None:
    async def main(environment: Environment) -> float:
        loop, disk = asyncio.get_running_loop(), environment.disk
        file = disk.open("/file", create=True)
        done: asyncio.Future[float] = loop.create_future()

        def sync() -> None:
            file.sync()
            loop.call_soon_threadsafe(lambda: done.set_result(loop.time()))

        started_s = loop.time()
        loop.run_in_executor(None, sync)
        return await done - started_s

    with World() as world:
        world.host("a").storage.device.slowness = 3000
        assert world.run_to_end(world.host("a").start(main)) > 0.1
