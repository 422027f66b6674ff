"""A relay between a client and a real server, whose connections a test can break."""

from __future__ import annotations

import asyncio
from typing import Self, cast

from odradek.zookeeper.client.connect_string import parse_connect_string


class Relay:
    """Listens on a port of its own and hands on what it hears, both ways."""

    def __init__(self, connect_string: str) -> None:
        parsed = parse_connect_string(connect_string)
        self._address = parsed.addresses[0]
        self._chroot = parsed.chroot
        self._server: asyncio.Server | None = None
        self.ends: set[End] = set()
        self.is_reply_lost = False  # Break each connection instead of handing on a reply.

    @property
    def connect_string(self) -> str:
        assert self._server is not None
        port = self._server.sockets[0].getsockname()[1]
        return f"127.0.0.1:{port}{self._chroot}"

    def hang_up(self) -> None:
        for end in list(self.ends):
            end.transport.abort()

    async def reach_server(self, near: End) -> End:
        loop = asyncio.get_running_loop()
        _, far = await loop.create_connection(lambda: End(self, near), *self._address)
        return far

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: End(self), "127.0.0.1", 0)
        return self

    async def __aexit__(self, *reason: object) -> None:
        assert self._server is not None
        self._server.close()
        self.hang_up()
        await self._server.wait_closed()


class End(asyncio.Protocol):
    """One end of a relayed connection; `other` is the one that faces the client, if known."""

    transport: asyncio.Transport

    def __init__(self, relay: Relay, other: End | None = None) -> None:
        self._relay = relay
        self._other = other
        self._faces_server = other is not None
        self._early: list[bytes] = []
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._relay.ends.add(self)
        if self._other is None:
            self._opening = asyncio.get_running_loop().create_task(self._open())

    def data_received(self, data: bytes) -> None:
        if self._faces_server and self._relay.is_reply_lost:
            self._relay.is_reply_lost = False
            self.transport.abort()
        elif self._other is None:
            self._early.append(data)
        else:
            self._other.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._relay.ends.discard(self)
        if self._other is not None:
            self._other.transport.abort()

    async def _open(self) -> None:
        self._other = await self._relay.reach_server(self)
        self._other.transport.write(b"".join(self._early))
