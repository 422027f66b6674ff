"""Requests that wait without a task."""

from __future__ import annotations

import asyncio

from odradek.kafka.server.unfinished import Unfinished
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
