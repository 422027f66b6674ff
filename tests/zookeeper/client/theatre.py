"""Stories with real servers: each in a chroot of its own, on a real loop, within a time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from uuid import uuid4

import uvloop

from odradek.zookeeper.client.aio import ZooKeeperClient

LIMIT_S = 30
Story = Callable[[ZooKeeperClient], Awaitable[None]]


def new_client(connect_string: str) -> ZooKeeperClient:
    return ZooKeeperClient(connect_string, random=Random(), session_timeout_ms=4000)


def play(running_server: str, story: Story) -> None:
    """Play a story with a client whose root is new and empty."""

    async def tell(connect_string: str) -> None:
        async with new_client(connect_string) as client:
            await story(client)

    play_in_chroot(running_server, tell)


def play_in_chroot(running_server: str, story: Callable[[str], Awaitable[None]]) -> None:
    """Play a story that makes its own clients from a connect string."""

    async def main() -> None:
        chroot = f"/{uuid4().hex}"
        async with asyncio.timeout(LIMIT_S), new_client(running_server) as client:
            await client.create(chroot)
            await story(running_server + chroot)

    uvloop.run(main())
