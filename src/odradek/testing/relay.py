"""Relays: a port in front of each port of a server, through which everybody else reaches it.

Servers do not know of them; they are only told other ports than their neighbours listen on. Who
is at the far end of a connection is found out when it is opened (`origin`). Between two who are cut
off from each other nothing is closed and nothing comes through, as when a network drops packets;
what was on its way arrives when they are healed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress

from odradek.local.ports import HOST
from odradek.runtime.logs import NodeLog
from odradek.testing.origin import holder_of
from odradek.testing.rules import CLIENT

NOTE = NodeLog("relays")
PIECE_BYTES = 256 * 1024
Pair = frozenset[str]
Broken = (OSError, asyncio.IncompleteReadError)


class Network:
    """Who may talk to whom."""

    def __init__(self, names_by_pid: Callable[[], Mapping[int, str]]) -> None:
        self._names_by_pid = names_by_pid
        self._cuts: set[Pair] = set()
        self._healed = asyncio.Event()

    def source_of(self, writer: asyncio.StreamWriter) -> str:
        """Who has connected to us."""
        port = writer.get_extra_info("peername")[1]
        own_port = writer.get_extra_info("sockname")[1]
        return holder_of(port, own_port, self._names_by_pid()) or CLIENT

    def cut(self, pair: Pair) -> None:
        self._cuts.add(pair)

    def heal(self, pair: Pair | None = None) -> None:
        """One pair, or all."""
        self._cuts -= self._cuts if pair is None else {pair}
        self._healed.set()
        self._healed = asyncio.Event()

    async def passable(self, pair: Pair) -> None:
        """Return as soon as the two can hear each other."""
        while pair in self._cuts:
            await self._healed.wait()


class Link:
    """One connection and the one behind it. `forward` and `back` say what passes."""

    def __init__(self, network: Network, pair: Pair) -> None:
        self.network = network
        self.pair = pair

    async def run(
        self,
        near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    ) -> None:
        """Pass on both ways until one end is over; then both are."""
        ways = [
            asyncio.create_task(self.forward(near[0], far[1], near[1])),
            asyncio.create_task(self.back(far[0], near[1])),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            await self.network.passable(self.pair)  # Nor does the end of it come through.
        finally:
            for way in ways:
                way.cancel()
            for ended in await asyncio.gather(*ways, return_exceptions=True):
                if isinstance(ended, Exception):
                    NOTE.error("a relay broke: %r", ended, exc_info=ended)

    async def forward(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        back: asyncio.StreamWriter,
    ) -> None:
        await self._pass_on(reader, writer)

    async def back(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._pass_on(reader, writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*Broken):
            while data := await reader.read(PIECE_BYTES):
                await self.send(writer, data)

    async def send(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        await self.network.passable(self.pair)
        writer.write(data)
        await writer.drain()


class Relay:
    """A port that leads to a port of a server."""

    def __init__(self, network: Network, target: str, make_link: Callable[..., Link]) -> None:
        self._network = network
        self._target = target
        self._make_link = make_link
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.target_port = 0  # Known once the servers are planned.

    async def open(self) -> int:
        """Listen; the port."""
        self._server = await asyncio.start_server(self._connected, HOST, 0, limit=PIECE_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._lead_on(reader, writer)
        except (asyncio.CancelledError, *Broken):
            pass  # We are closed, or it was gone before we could look.
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _lead_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        source = self._network.source_of(writer)
        pair = frozenset((source, self._target))
        await self._network.passable(pair)
        far = await asyncio.open_connection(HOST, self.target_port, limit=PIECE_BYTES)
        try:
            await self._make_link(self._network, pair, source).run((reader, writer), far)
        finally:
            far[1].close()


def plain_link(network: Network, pair: Pair, source: str) -> Link:
    """For what only passes through: ZooKeeper's ports."""
    return Link(network, pair)
