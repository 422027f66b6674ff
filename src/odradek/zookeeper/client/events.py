"""A watcher that keeps what it hears until somebody asks.

    events = Events()
    for path in paths:
        await client.get_data(path, watch=events)
    async for event in events:
        ...

One may watch any number of znodes: its events come out in the order in which the server sent
them, and always after what was read before them. It grows without limit if nobody asks.
"""

from __future__ import annotations

import asyncio

from odradek.zookeeper.client.watches import WatchEvent


class Events:
    """Events in the order of their arrival. The end of the session is one of them, of type NONE."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[WatchEvent] = asyncio.Queue()

    def __call__(self, event: WatchEvent) -> None:
        self._queue.put_nowait(event)

    def __len__(self) -> int:
        return self._queue.qsize()

    def __bool__(self) -> bool:
        return True  # Also when empty: it is a watcher all the same.

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> WatchEvent:
        return await self._queue.get()

    async def next(self) -> WatchEvent:
        """The oldest event that was not asked for yet."""
        return await self._queue.get()
