"""The place at the head of a line, and how its holder learns that it is gone.

A place is lost when its znode is deleted, when the session ends, and when no server has answered
for so long that one may have ended the session: others may be at the head by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Self

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.events import Events
from odradek.zookeeper.client.link import TIMER_SLACK_S
from odradek.zookeeper.client.patience import delete_if_there, patiently


class PlaceLost(ZooKeeperError):
    """What was held is held no longer, by no will of its holder."""


class Place:
    """Held until `release`, or until it is lost. As a context, it raises `PlaceLost` at the end."""

    def __init__(self, client: ZooKeeperClient, path: str, clear: Callable[[], None]) -> None:
        self.path = path
        self.czxid = 0  # Grows from holder to holder: others can fence on it.
        self._client = client
        self._clear = clear
        self._lost = asyncio.Event()
        self._events = Events()
        self._doubt: asyncio.TimerHandle | None = None
        self._minder: asyncio.Task[None] | None = None

    @property
    def is_lost(self) -> bool:
        return self._lost.is_set()

    async def until_lost(self) -> None:
        """Return when the place is lost; never, if it is released before."""
        await self._lost.wait()

    async def occupy(self) -> None:
        """Begin to mind the place."""
        if not await self._is_there():
            raise PlaceLost(self.path)
        self._minder = asyncio.get_running_loop().create_task(self._mind(), name="mind a place")
        self._lose_if_in_doubt()

    async def release(self) -> None:
        """Leave the place to the next. Without a connection, that waits for one."""
        self._stop_minding()
        if self.is_lost:
            return
        try:
            await delete_if_there(self._client, self.path)
        except ZooKeeperError:
            # Only the end of the session is beyond patience, and it takes the place with it.
            if self._client.state.is_connected:
                raise

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *reason: object) -> None:
        await self.release()
        if self.is_lost and kind is None:
            raise PlaceLost(self.path)

    async def _mind(self) -> None:
        try:
            while await self._is_there():
                await self._events.next()
        except ZooKeeperError:
            pass  # There is no session any more.
        self._lose()

    async def _is_there(self) -> bool:
        """Whether the znode is there; if so, the next event says that something has changed."""
        stat = await patiently(self._client, self._client.exists, self.path, self._events)
        self.czxid = stat.czxid if stat is not None else self.czxid
        return stat is not None

    def _lose_if_in_doubt(self) -> None:
        loop, deadline = asyncio.get_running_loop(), self._client.session_deadline
        if loop.time() + TIMER_SLACK_S >= deadline:
            self._lose()
        else:
            self._doubt = loop.call_at(deadline, self._lose_if_in_doubt)

    def _lose(self) -> None:
        self._stop_minding()
        self._lost.set()
        self._clear()

    def _stop_minding(self) -> None:
        self._client.forget_watcher(self.path, self._events)
        if self._doubt is not None:
            self._doubt.cancel()
        if self._minder is not None and self._minder is not asyncio.current_task():
            self._minder.cancel()
