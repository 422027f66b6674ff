"""The quorum port: connections between a leader and its learners, and what goes over them.

A leader listens and learners dial, each attempt once: when to try again is not decided here. What
is sent to a link leaves in order, and all of one turn together. A snapshot on its way out holds
up what is sent after it; one on its way in is put together as it comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, Protocol, cast

from odradek.runtime.errors import ProtocolError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.settings.members import Address
from odradek.zookeeper.storage.snapshot_stream import SIGNATURE, SnapshotStream
from odradek.zookeeper.wire.messages.quorum import QuorumPacket
from odradek.zookeeper.wire.quorum import PacketReader, encode_packets


class Listener(Protocol):
    """Whoever hears what happens to links; each is known by its number."""

    def accepted(self) -> int | None:
        """Somebody dialled: a number for the link, or None if it is not wanted."""

    def connected(self, link: int) -> None: ...

    def lost(self, link: int) -> None: ...

    def received(self, link: int, packets: list[QuorumPacket]) -> None: ...

    def receiving(self, link: int) -> None:
        """A part of a snapshot came."""

    def snapshot_received(self, link: int, stream: SnapshotStream) -> None: ...

    def broken(self, link: int, reason: str) -> None:
        """What came makes no sense."""


class Link(asyncio.Protocol):
    """One connection. Its number is 0 until a leader has given it one."""

    def __init__(self, links: Links, number: int) -> None:
        self.number = number
        self._links = links
        self._reader = PacketReader(links.data_bytes_max)
        self._stream: SnapshotStream | None = None
        self._out: list[bytes] = []
        self._is_held = False  # Behind a snapshot.
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._is_closed = False

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent.
        if not self._links.take(self):
            self._is_closed = True
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._may_write.set()
        if not self._is_closed:
            self._is_closed = True
            self._links.forget(self)

    def data_received(self, data: bytes) -> None:
        try:
            self._take(data)
        except ProtocolError as error:
            self._links.listener.broken(self.number, str(error))

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    # In

    def _take(self, data: bytes) -> None:
        listener, reader = self._links.listener, self._reader
        packets = reader.feed(data)
        while True:
            if packets:
                listener.received(self.number, packets)
            if self._is_closed or not reader.is_raw:
                return
            rest = self._take_snapshot(reader.take_raw())
            if rest is None:
                return
            packets = reader.resume(rest)

    def _take_snapshot(self, data: bytes) -> bytes | None:
        """What follows the snapshot, or None while it is still coming."""
        if self._stream is None:
            self._stream = SnapshotStream()
        self._links.listener.receiving(self.number)
        rest = self._stream.feed(data)
        if rest is not None:
            stream, self._stream = self._stream, None
            self._links.listener.snapshot_received(self.number, stream)
        return rest

    # Out

    def send(self, data: bytes) -> None:
        if not self._out and not self._is_held:
            self._links.to_flush[self] = None
        self._out.append(data)

    def flush(self) -> None:
        if self._out and not self._is_held and not self._is_closed:
            data = b"".join(self._out)
            self._out.clear()
            self._transport.write(data)

    def send_snapshot(self, slices: Iterator[bytes]) -> None:
        self.flush()
        self._is_held = True
        self._links.start("snapshot to a learner", self._send_slices(slices))

    async def _send_slices(self, slices: Iterator[bytes]) -> None:
        for piece in slices:
            await self._may_write.wait()
            if self._is_closed:
                return
            self._transport.write(piece)
            await asyncio.sleep(0)  # Others want to be served too.
        self._transport.write(SIGNATURE)
        self._is_held = False
        self.flush()

    def close(self) -> None:
        if not self._is_closed:
            self.flush()
            self._is_closed = True
            self._transport.close()


class Links:
    """All connections of a member on the quorum port."""

    def __init__(
        self,
        listener: Listener,
        data_bytes_max: int,
        start: Callable[[str, Coroutine[Any, Any, None]], object],
        note: NodeLog,
    ) -> None:
        self.listener = listener
        self.data_bytes_max = data_bytes_max
        self.start = start
        self.is_open = False
        self.to_flush: dict[Link, None] = {}
        self._note = note
        self._by_number: dict[int, Link] = {}
        self._dialling: dict[int, asyncio.Task[None]] = {}
        self._server: asyncio.AbstractServer | None = None
        self._opening: asyncio.Task[None] | None = None

    # Listening

    def open_port(self, hosts: Sequence[str] | None, port: int) -> None:
        """Let learners in."""
        self.is_open = True
        self._opening = asyncio.get_running_loop().create_task(self._open(hosts, port))

    async def _open(self, hosts: Sequence[str] | None, port: int) -> None:
        create_server = asyncio.get_running_loop().create_server
        try:
            self._server = await create_server(lambda: Link(self, 0), hosts, port)
        except OSError as error:
            self._note.error("no learner can join on port %s: %s", port, error)

    def close_port(self) -> None:
        """Nobody should wait for one who does not lead."""
        self.is_open = False
        if self._opening is not None:
            self._opening.cancel()
        if self._server is not None:
            self._server.close()
            self._server = None

    # Dialling

    def dial(self, number: int, addresses: Sequence[Address], timeout_s: float) -> None:
        """Try once to connect; the listener hears how it went."""
        task = asyncio.get_running_loop().create_task(self._dial(number, addresses, timeout_s))
        self._dialling[number] = task
        task.add_done_callback(lambda _: self._dialling.pop(number, None))

    async def _dial(self, number: int, addresses: Sequence[Address], timeout_s: float) -> None:
        connect = asyncio.get_running_loop().create_connection
        for address in addresses:
            try:
                async with asyncio.timeout(timeout_s):
                    await connect(lambda: Link(self, number), address.host, address.port)
                return
            except (OSError, TimeoutError) as error:
                self._note.debug("%s cannot be reached: %s", address, error)
        self.listener.lost(number)

    # Links

    def take(self, link: Link) -> bool:
        """A connection is made; say whether it is wanted."""
        if link.number:
            self._by_number[link.number] = link
            self.listener.connected(link.number)
            return True
        number = self.listener.accepted()
        if number is None:
            return False
        link.number = number
        self._by_number[number] = link
        return True

    def forget(self, link: Link) -> None:
        self.to_flush.pop(link, None)
        if self._by_number.pop(link.number, None):
            self.listener.lost(link.number)

    def close(self, number: int) -> None:
        if dialling := self._dialling.pop(number, None):
            dialling.cancel()
        if link := self._by_number.pop(number, None):
            self.to_flush.pop(link, None)
            link.close()

    def close_all(self) -> None:
        self.close_port()
        for number in [*self._dialling, *self._by_number]:
            self.close(number)

    def send(self, numbers: Sequence[int], packets: Sequence[QuorumPacket]) -> None:
        """Encode once, send to each."""
        data = encode_packets(packets)
        for number in numbers:
            if link := self._by_number.get(number):
                link.send(data)

    def send_snapshot(self, number: int, slices: Iterator[bytes]) -> None:
        if link := self._by_number.get(number):
            link.send_snapshot(slices)

    def flush(self) -> None:
        waiting, self.to_flush = self.to_flush, {}
        for link in waiting:
            link.flush()
