"""A node's tasks live together and stop together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress

import pytest

from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import TaskDied, Tasks


def run(story: Callable[[Tasks], Awaitable[None]], *, grace_s: float = 5.0) -> Tasks:
    async def main() -> Tasks:
        tasks = Tasks(NodeLog("broker 1"), grace_s=grace_s)
        await story(tasks)
        return tasks

    return asyncio.run(main())


async def forever(farewell: Callable[[], None] = lambda: None) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        farewell()


async def crash(text: str = "boom") -> None:
    raise ValueError(text)


async def nothing() -> None:
    pass


async def stubborn(released: asyncio.Event) -> None:
    """Ignore every cancellation; once released, fail."""
    while not released.is_set():
        with suppress(asyncio.CancelledError):
            await released.wait()
    raise ValueError("too late")


class Turn:
    """One turn of the loop for everybody else."""

    def __await__(self) -> Generator[None, None, None]:
        yield


async def settle() -> None:
    """Let everything that is ready run."""
    for _ in range(20):
        await Turn()


def test_a_death_stops_the_node_and_is_raised_with_its_name() -> None:
    async def story(tasks: Tasks) -> None:
        other = tasks.start("cleaner", forever())
        tasks.start("fetcher", crash())
        with pytest.raises(TaskDied, match="fetcher: ValueError: boom") as caught:
            await tasks.until_stopped()
        assert isinstance(caught.value.__cause__, ValueError)
        assert other.cancelled()

    run(story)


def test_tasks_stop_in_reverse_order_each_when_the_one_before_is_done() -> None:
    async def slow_to_stop(name: str, stopped: list[str]) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await settle()
            stopped.append(name)

    async def story(tasks: Tasks) -> None:
        stopped: list[str] = []
        for name in ("log", "session", "server"):
            tasks.start(name, slow_to_stop(name, stopped))
        await settle()
        tasks.stop()
        tasks.stop()
        await tasks.until_stopped()
        assert stopped == ["server", "session", "log"]

    run(story)


def test_a_task_that_ends_before_its_node_is_a_death() -> None:
    async def story(tasks: Tasks) -> None:
        tasks.start("fetcher", nothing())
        with pytest.raises(TaskDied, match="fetcher: ended"):
            await tasks.until_stopped()

    run(story)


def test_a_task_that_may_end_may_also_be_cancelled() -> None:
    async def story(tasks: Tasks) -> None:
        await tasks.start("recovery", nothing(), may_end=True)
        fetcher = tasks.start("fetcher", forever(), may_end=True)
        await settle()
        fetcher.cancel()
        await settle()
        assert not tasks.is_stopping
        tasks.stop()
        await tasks.until_stopped()

    run(story)


@pytest.mark.parametrize("may_end", [True, False])
def test_a_task_that_may_end_may_still_not_fail(may_end: bool) -> None:
    async def story(tasks: Tasks) -> None:
        tasks.start("recovery", crash(), may_end=may_end)
        with pytest.raises(TaskDied, match="recovery"):
            await tasks.until_stopped()

    run(story)


def test_a_task_cancelled_by_a_stranger_is_a_death() -> None:
    async def story(tasks: Tasks) -> None:
        tasks.start("fetcher", forever()).cancel()
        with pytest.raises(TaskDied, match="fetcher: was cancelled"):
            await tasks.until_stopped()

    run(story)


def test_a_cancellation_that_nobody_asked_for_is_a_death() -> None:
    async def wait_for_what_is_cancelled() -> None:
        future = asyncio.get_running_loop().create_future()
        future.cancel()
        await future

    async def story(tasks: Tasks) -> None:
        tasks.start("fetcher", wait_for_what_is_cancelled(), may_end=True)
        with pytest.raises(TaskDied, match="fetcher: was cancelled"):
            await tasks.until_stopped()

    run(story)


def test_the_first_death_is_raised_and_later_ones_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def farewell() -> None:
        raise OSError("no room for the checkpoint")

    async def story(tasks: Tasks) -> None:
        tasks.start("checkpoints", forever(farewell))
        await settle()
        tasks.start("fetcher", crash())
        with pytest.raises(TaskDied, match="fetcher"):
            await tasks.until_stopped()

    run(story)
    assert caplog.messages == ["checkpoints: OSError: no room for the checkpoint"]


def test_a_failure_during_a_wanted_stop_is_raised() -> None:
    def farewell() -> None:
        raise OSError("no room for the checkpoint")

    async def story(tasks: Tasks) -> None:
        tasks.start("checkpoints", forever(farewell))
        await settle()
        tasks.stop()
        with pytest.raises(TaskDied, match="no room"):
            await tasks.until_stopped()

    run(story)


def test_a_task_that_will_not_stop_is_left_behind_by_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(tasks: Tasks) -> None:
        released = asyncio.Event()
        first = tasks.start("session", forever())
        tasks.start("fetcher", stubborn(released))
        await settle()
        tasks.stop()
        await tasks.until_stopped()
        assert first.cancelled()
        assert tasks.names() == ["fetcher"]
        assert caplog.messages == ["fetcher did not stop when told to, and is left behind"]
        released.set()
        await settle()

    tasks = run(story, grace_s=0.01)
    assert tasks.failure is None
    assert caplog.messages[1:] == ["fetcher: ValueError: too late"]


def test_a_cancelled_node_stops_its_tasks_before_it_ends() -> None:
    async def story(tasks: Tasks) -> None:
        stopped: list[str] = []
        tasks.start("log", forever(lambda: stopped.append("log")))
        tasks.start("server", forever(lambda: stopped.append("server")))
        node = asyncio.ensure_future(tasks.until_stopped())
        await settle()
        node.cancel()
        with pytest.raises(asyncio.CancelledError):
            await node
        assert stopped == ["server", "log"]

    run(story)


def test_a_death_in_a_cancelled_node_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def farewell() -> None:
        raise OSError("no room")

    async def story(tasks: Tasks) -> None:
        tasks.start("log", forever(farewell))
        node = asyncio.ensure_future(tasks.until_stopped())
        await settle()
        node.cancel()
        with pytest.raises(asyncio.CancelledError):
            await node

    run(story)
    assert caplog.messages == ["log: OSError: no room"]


def test_a_task_started_during_a_stop_never_begins() -> None:
    async def story(tasks: Tasks) -> None:
        begun: list[str] = []

        async def begin() -> None:
            begun.append("connection")

        tasks.start("server", forever(lambda: late.append(tasks.start("connection", begin()))))
        late: list[asyncio.Task[None]] = []
        await settle()
        tasks.stop()
        await tasks.until_stopped()
        assert late[0].cancelled() and not begun

    run(story)


def test_a_failing_callback_stops_the_node() -> None:
    def explode(text: str) -> None:
        raise AssertionError(text)

    async def story(tasks: Tasks) -> None:
        asyncio.get_running_loop().call_soon(tasks.guard("ticker", explode), "offset went back")
        with pytest.raises(TaskDied, match="ticker: AssertionError: offset went back"):
            await tasks.until_stopped()

    run(story)


def test_what_nobody_caught_in_a_loop_of_its_own_stops_the_node() -> None:
    def explode() -> None:
        raise AssertionError("offset went back")

    async def story(tasks: Tasks) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(tasks.take_loop_error)
        loop.call_exception_handler({"message": "only a warning"})
        assert not tasks.is_stopping
        loop.call_soon(explode)
        with pytest.raises(TaskDied, match="offset went back"):
            await tasks.until_stopped()

    run(story)


def test_a_node_forgets_tasks_that_are_done() -> None:
    async def story(tasks: Tasks) -> None:
        for number in range(100):
            await tasks.start(f"connection {number}", nothing(), may_end=True)
        await settle()
        assert tasks.names() == []

    run(story)
