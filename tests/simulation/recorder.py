"""Protocols that remember what was done to them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any


class Recorder(asyncio.Protocol):
    """Keeps the calls it got, in order, and all data."""

    def __init__(self, *, keeps_open: bool = False) -> None:
        self.calls: list[str] = []
        self.data = b""
        self.error: Exception | None = None
        self.transport: Any = None
        self._keeps_open = keeps_open
        self._changed = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._note("made")

    def data_received(self, data: bytes) -> None:
        self.data += data
        if self.calls[-1] == "data":
            self.calls.pop()  # How a stream is cut is nobody's promise.
        self._note("data")

    def eof_received(self) -> bool:
        self._note("eof")
        return self._keeps_open

    def connection_lost(self, error: Exception | None) -> None:
        self.error = error
        self._note("lost")

    def pause_writing(self) -> None:
        self._note("pause")

    def resume_writing(self) -> None:
        self._note("resume")

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until something has happened to this protocol."""
        async with asyncio.timeout(10):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def until_called(self, name: str) -> None:
        await self.until(lambda: name in self.calls)

    async def until_data(self, data: bytes) -> None:
        await self.until(lambda: self.data == data)

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self._changed.set()


@dataclass(slots=True)
class Connection:
    """Both ends of a connection on this loop."""

    near: Recorder
    far: Recorder


@asynccontextmanager
async def connected(
    near: Recorder | None = None, far: Recorder | None = None
) -> AsyncIterator[Connection]:
    """Two recorders that are connected by a port of this host, until the block ends."""
    loop = asyncio.get_running_loop()
    near, far = near or Recorder(), far or Recorder()
    server = await loop.create_server(lambda: far, "127.0.0.1", 0)
    try:
        await loop.create_connection(lambda: near, "127.0.0.1", port_of(server))
        await far.until_called("made")
        yield Connection(near, far)
    finally:
        for end in (near, far):
            if "lost" not in end.calls:
                end.transport.abort()
        server.close()
        await server.wait_closed()
    for end in (near, far):
        await end.until_called("lost")


def port_of(server: Any) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port
