"""A line of those who wait for the same thing, first come, first served.

Each makes an ephemeral sequential znode under one parent and waits for the one just ahead of it
to go, so that one leaving wakes one waiter and not the whole herd. The name begins with chance:
if a connection is lost during the create, that tells whether it was done.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from random import Random

from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import ConnectionLoss, NoNode, ZooKeeperError
from odradek.zookeeper.client.events import Events
from odradek.zookeeper.client.patience import delete_if_there, ensure_path, patiently
from odradek.zookeeper.client.place import Place, PlaceLost
from odradek.zookeeper.wire.codes import CreateMode


class Line:
    """All places below one path that bear the same mark."""

    def __init__(self, client: ZooKeeperClient, path: str, mark: str, random: Random) -> None:
        self._client = client
        self._path = path
        self._mark = mark
        self._is_ours = re.compile(rf"[0-9a-f]{{32}}-{re.escape(mark)}(-?\d+)").fullmatch
        self._random = random
        self._clearing: set[asyncio.Task[None]] = set()

    async def reach_head(self, data: bytes = b"") -> Place:
        """Take a place and wait until nobody is ahead. Who gives up leaves no place behind."""
        ticket = f"{self._random.getrandbits(128):032x}-{self._mark}"
        try:
            name = await self._take_place(ticket, data)
            await self._wait_for_turn(name)
            place = Place(self._client, f"{self._path}/{name}", lambda: self._clear_later(ticket))
            await place.occupy()
        except BaseException:
            self._clear_later(ticket)
            raise
        return place

    async def names(self) -> list[str]:
        """Who is in line, the head first."""
        try:
            children = await patiently(self._client, self._client.get_children, self._path)
        except NoNode:
            return []
        numbers = {name: int(match[1]) for name in children if (match := self._is_ours(name))}
        return sorted(numbers, key=numbers.__getitem__)

    async def _take_place(self, ticket: str, data: bytes) -> str:
        """Make our znode, exactly one; its name."""
        name = None
        while name is None:
            try:
                path = await self._client.create(
                    f"{self._path}/{ticket}", data, mode=CreateMode.EPHEMERAL_SEQUENTIAL
                )
                name = path[len(self._path) + 1 :]
            except NoNode:
                await ensure_path(self._client, self._path)
            except ConnectionLoss:
                name = await self._find(ticket)
        return name

    async def _wait_for_turn(self, name: str) -> None:
        while (names := await self.names())[:1] != [name]:
            if name not in names:
                raise PlaceLost(f"{self._path}/{name}")
            await self._until_gone(names[names.index(name) - 1])

    async def _until_gone(self, name: str) -> None:
        """Wait for an event of this znode, or its absence."""
        path, events = f"{self._path}/{name}", Events()
        try:
            # Not `exists`, which would leave a watch on a znode that never comes back.
            await patiently(self._client, self._client.get_data, path, events)
            await events.next()
        except NoNode:
            return
        finally:
            self._client.forget_watcher(path, events)

    async def _find(self, ticket: str) -> str | None:
        """The name that this ticket got, if it got one."""
        # Our new server may be behind the one that did the create.
        await patiently(self._client, self._client.sync, self._path)
        return next((name for name in await self.names() if name.startswith(ticket)), None)

    def _clear_later(self, ticket: str) -> None:
        """Remove what bears this ticket, without keeping its owner waiting."""
        task = asyncio.get_running_loop().create_task(self._clear(ticket), name="clear a place")
        self._clearing.add(task)
        task.add_done_callback(self._clearing.discard)

    async def _clear(self, ticket: str) -> None:
        # Without a session the place is gone, or going, by itself.
        with suppress(ZooKeeperError):
            if name := await self._find(ticket):
                await delete_if_there(self._client, f"{self._path}/{name}")
