"""Requests that wait without a task."""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.parked import Parked, Waiter, Watcher
from odradek.kafka.server.unfinished import Ended, Unfinished
from odradek.kafka.wire.schema import Message


def test_who_is_cancelled_just_when_its_future_is_done_does_not_go_on() -> None:
    ended: list[object] = []

    async def handler(future: asyncio.Future[None]) -> Message | None:
        await future
        return None

    async def story() -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        begun = handler(future)
        request = Unfinished(begun, begun.send(None), lambda *it: ended.append(it))
        future.set_result(None)
        request.cancel()
        await asyncio.sleep(0)

    asyncio.run(story())
    assert ended == []


class Story:
    """Requests that wait for one thing, each of which says when it goes on."""

    def __init__(self) -> None:
        self.parked = Parked()
        self.watchers: dict[Watcher, None] = {}
        self.heard: list[str] = []

    def begin(
        self, name: str, then_wakes: Waiter | None = None, ended: Ended = lambda *_: None
    ) -> tuple[Unfinished, Waiter]:
        waiter = Waiter()

        async def handler() -> Message | None:
            assert await self.parked.wait(waiter, [self], 1000)
            self.heard.append(name)
            if then_wakes is not None:
                then_wakes.wake()
                self.parked.go_on()  # A place to rest within another: nobody goes on inside it.
                self.heard.append(f"{name} rests")
            return None

        begun = handler()
        return Unfinished(begun, begun.send(None), ended), waiter


def test_who_is_woken_goes_on_when_the_other_rests_and_whom_it_wakes_after_it() -> None:
    async def story() -> None:
        told = Story()
        _, second = told.begin("second")
        _, first = told.begin("first", then_wakes=second)
        first.wake()
        assert told.heard == [], "whoever woke it is not at a place to rest"
        told.parked.go_on()
        assert told.heard == ["first", "first rests", "second"]
        assert not told.watchers

    asyncio.run(story())


def test_if_nobody_rests_the_loop_lets_them_go_on_and_who_was_cancelled_does_not() -> None:
    async def story() -> None:
        told = Story()
        request, gone = told.begin("gone")
        _, left = told.begin("left")
        gone.wake()
        left.wake()
        request.cancel()
        await asyncio.sleep(0)
        assert told.heard == ["left"]

    asyncio.run(story())


def test_who_fails_harms_neither_those_behind_it_nor_whoever_rests() -> None:
    def fail(response: Message | None, error: Exception | None) -> None:
        raise RuntimeError("it cannot be answered")

    async def story() -> None:
        told, errors = Story(), []
        told.parked.loop.set_exception_handler(lambda _, context: errors.append(context))
        _, first = told.begin("first", ended=fail)
        _, second = told.begin("second")
        first.wake()
        second.wake()
        told.parked.go_on()
        assert told.heard == ["first", "second"]
        assert [str(error["exception"]) for error in errors] == ["it cannot be answered"]

    asyncio.run(story())
