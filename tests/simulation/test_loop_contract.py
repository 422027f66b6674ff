"""What asyncio promises of its loop, asked of real loops and of the simulated one alike."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from tests.simulation.loops import on_every_loop

NAME: ContextVar[str] = ContextVar("NAME", default="nobody")


@on_every_loop
async def test_callbacks_run_in_the_order_in_which_they_were_asked_for() -> None:
    loop = asyncio.get_running_loop()
    seen: list[int] = []
    for number in range(100):
        loop.call_soon(seen.append, number)
    loop.call_soon_threadsafe(seen.append, 100)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert seen == list(range(101))


@on_every_loop
async def test_timers_run_in_the_order_of_their_times() -> None:
    loop = asyncio.get_running_loop()
    seen: list[str] = []
    done = asyncio.Event()
    loop.call_later(0.02, done.set)
    loop.call_later(0.01, seen.append, "second")
    loop.call_at(loop.time() + 0.005, seen.append, "first")
    cancelled = loop.call_later(0.001, seen.append, "never")
    cancelled.cancel()
    assert cancelled.cancelled()
    loop.call_later(-1, seen.append, "overdue")
    await done.wait()
    assert seen == ["overdue", "first", "second"]


@on_every_loop
async def test_a_timer_does_not_come_early() -> None:
    loop = asyncio.get_running_loop()
    rang = loop.create_future()
    due = loop.time() + 0.01
    loop.call_at(due, rang.set_result, None)
    await rang
    assert loop.time() >= due - 2e-3  # uvloop counts in milliseconds.


@on_every_loop
async def test_waiting_can_time_out() -> None:
    never = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await never
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.Event().wait(), 0.01)


@on_every_loop
async def test_a_group_cancels_its_tasks_when_one_fails() -> None:
    seen: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            seen.append(name)

    async def fail() -> None:
        raise ArithmeticError

    with pytest.raises(ExceptionGroup):
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b"):
                group.create_task(wait(name))
            group.create_task(fail())
    assert sorted(seen) == ["a", "b"]


@on_every_loop
async def test_queues_and_gathering_work() -> None:
    queue: asyncio.Queue[int] = asyncio.Queue(maxsize=1)

    async def produce() -> None:
        for number in range(10):
            await queue.put(number)

    async def consume() -> list[int]:
        return [await queue.get() for _ in range(10)]

    _, consumed = await asyncio.gather(produce(), consume())
    assert consumed == list(range(10))


@on_every_loop
async def test_a_thread_returns_raises_and_has_no_loop() -> None:
    loop = asyncio.get_running_loop()
    assert await loop.run_in_executor(None, divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await loop.run_in_executor(None, divmod, 7, 0)

    def in_thread() -> str:
        try:
            asyncio.get_running_loop().create_future()
        except RuntimeError as error:
            return str(error)
        return "there is a loop"

    assert await asyncio.to_thread(in_thread) == "no running event loop"


@on_every_loop
async def test_an_executor_of_one_thread_keeps_the_order() -> None:
    loop = asyncio.get_running_loop()
    seen: list[int] = []
    with ThreadPoolExecutor(max_workers=1) as executor:
        calls = [loop.run_in_executor(executor, seen.append, number) for number in range(20)]
        await asyncio.gather(*calls)
    assert seen == list(range(20))


@on_every_loop
async def test_tasks_and_callbacks_keep_their_context() -> None:
    loop = asyncio.get_running_loop()
    seen: list[str] = []
    NAME.set("a")
    loop.call_soon(lambda: seen.append(NAME.get()))
    task = asyncio.create_task(asyncio.sleep(0, NAME.get()))
    NAME.set("b")
    assert await task == "a"
    assert seen == ["a"]


@on_every_loop
async def test_a_generator_left_behind_is_closed() -> None:
    closed = asyncio.Event()

    async def count() -> AsyncIterator[int]:
        try:
            for number in range(10):
                yield number
        finally:
            await asyncio.sleep(0)
            closed.set()

    async for _ in count():
        break
    await asyncio.wait_for(closed.wait(), 1)


@on_every_loop
async def test_errors_of_callbacks_go_to_the_handler() -> None:
    loop = asyncio.get_running_loop()
    heard: list[object] = []
    loop.set_exception_handler(lambda _, context: heard.append(context["exception"]))
    error = ArithmeticError()

    def fail() -> None:
        raise error

    loop.call_soon(fail)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert heard == [error]
    assert loop.is_running()
    assert not loop.is_closed()
