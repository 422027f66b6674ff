"""The election port: one connection a pair of servers, and the newest notification for each.

The server with the bigger id keeps a connection that it opened. One that is dialled by a smaller id
dials back instead. A notification that could not be sent waits until there is a connection, unless
a newer one takes its place; the last that was sent is repeated on every new connection, for nobody
knows whether it arrived on the old one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import cast

from odradek.runtime.errors import ProtocolError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.settings.members import ANY_HOST, Address, read_client_address
from odradek.zookeeper.wire.election import ElectionReader, Hello, Notification, encode_frame

HELLO_WITHIN_S = 5.0
UNSENT_BYTES_MAX = 64 * 1024

Hear = Callable[[int, Notification], None]


class VoteLink(asyncio.Protocol):
    """One connection; `server_id` is None until the other end has said who it is."""

    def __init__(self, votes: Votes, server_id: int | None) -> None:
        self.server_id = server_id
        self._votes = votes
        self._reader = ElectionReader(expects_hello=server_id is None)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self.server_id is None:
            loop = asyncio.get_running_loop()
            self._deadline = loop.call_later(HELLO_WITHIN_S, self._transport.abort)
        else:
            self._transport.write(self._votes.hello.encode())
            self._votes.dialled(self, self.server_id)

    def connection_lost(self, error: Exception | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._votes.lost(self)

    def data_received(self, data: bytes) -> None:
        try:
            for heard in self._reader.feed(data):
                if isinstance(heard, Hello):
                    self._greet(heard)
                elif self.server_id is not None and not self._transport.is_closing():
                    self._votes.heard(self, self.server_id, heard)
        except ProtocolError as error:
            self._votes.note.warning("the election port heard nonsense: %s", error)
            self._transport.abort()

    def _greet(self, hello: Hello) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._votes.greeted(self, hello)

    @property
    def is_clogged(self) -> bool:
        return self._transport.get_write_buffer_size() > UNSENT_BYTES_MAX

    def resume_writing(self) -> None:
        self._votes.flow(self)

    def send(self, notification: Notification) -> None:
        self._transport.write(encode_frame(notification))

    def close(self) -> None:
        self._transport.close()


class Votes:
    """A member's connections on the election port."""

    def __init__(
        self,
        my_id: int,
        my_addresses: Sequence[Address],
        address_of: Callable[[int], Sequence[Address]],
        hear: Hear,
        gone: Callable[[int], None],
        timeout_s: float,
        note: NodeLog,
    ) -> None:
        self.hello = Hello(my_id, tuple(map(str, my_addresses)))
        self.note = note
        self._my_id = my_id
        self._address_of = address_of
        self._hear = hear
        self._gone = gone
        self._timeout_s = timeout_s
        self._links: dict[int, VoteLink] = {}
        self._waiting: dict[int, Notification] = {}
        self._last: dict[int, Notification] = {}
        self._entrusted: set[int] = set()  # What was last said to them went to a standing link.
        self._told: dict[int, Sequence[Address]] = {}  # Where strangers said that they listen.
        self._dialling: dict[int, asyncio.Task[None]] = {}
        self._server: asyncio.AbstractServer | None = None
        self._is_over = False

    async def open(self, hosts: Sequence[str] | None, port: int) -> None:
        self._server = await asyncio.get_running_loop().create_server(
            lambda: VoteLink(self, None), hosts, port
        )

    def close(self) -> None:
        self._is_over = True
        if self._server is not None:
            self._server.close()
        for task in list(self._dialling.values()):
            task.cancel()
        for link in list(self._links.values()):
            link.close()

    def say(self, server_id: int, notification: Notification) -> None:
        """Let a server know; if it cannot be reached, only the newest will be tried again."""
        self._waiting[server_id] = notification
        if link := self._links.get(server_id):
            self._entrusted.add(server_id)
            self.flow(link)
        else:
            self._dial(server_id)

    def flow(self, link: VoteLink) -> None:
        """Send what waits for this server, if it takes it."""
        server_id = link.server_id
        assert server_id is not None
        if server_id in self._waiting and not link.is_clogged:
            notification = self._last[server_id] = self._waiting.pop(server_id)
            link.send(notification)

    # Connections

    def _dial(self, server_id: int) -> None:
        if server_id in self._dialling or self._is_over:
            return
        addresses = self._address_of(server_id) or self._told.get(server_id, ())
        task = asyncio.get_running_loop().create_task(self._connect(server_id, addresses))
        self._dialling[server_id] = task
        task.add_done_callback(lambda _: self._dialling.pop(server_id, None))

    async def _connect(self, server_id: int, addresses: Sequence[Address]) -> None:
        connect = asyncio.get_running_loop().create_connection
        refusals = 0
        for address in addresses:
            try:
                async with asyncio.timeout(self._timeout_s):
                    await connect(lambda: VoteLink(self, server_id), address.host, address.port)
                return
            except (OSError, TimeoutError) as error:
                self.note.debug("server %s at %s: %s", server_id, address, error)
                refusals += isinstance(error, ConnectionRefusedError)
        if refusals and refusals == len(addresses):
            self._gone(server_id)

    def dialled(self, link: VoteLink, server_id: int) -> None:
        """We reached a server, and said hello: one with a bigger id will dial back."""
        if server_id > self._my_id:
            link.close()
        else:
            self._use(link, server_id)

    def greeted(self, link: VoteLink, hello: Hello) -> None:
        """A server dialled us: we take it if its id is bigger, otherwise we dial back."""
        if hello.server_id < self._my_id:
            link.close()
            self._told[hello.server_id] = read_addresses(hello)
            if old := self._links.pop(hello.server_id, None):
                old.close()  # It would not have dialled if it still had this one.
            self._dial(hello.server_id)
        elif hello.server_id > self._my_id:
            link.server_id = hello.server_id
            self._told[hello.server_id] = read_addresses(hello)
            self._use(link, hello.server_id)
        else:
            self.note.warning("another server has our id, %s", self._my_id)
            link.close()

    def _use(self, link: VoteLink, server_id: int) -> None:
        old = self._links.get(server_id)
        self._links[server_id] = link
        if old is not None:
            old.close()
        if server_id not in self._waiting and server_id in self._last:
            self._waiting[server_id] = self._last[server_id]
        self.flow(link)

    def heard(self, link: VoteLink, server_id: int, notification: Notification) -> None:
        if self._links.get(server_id) is link and not self._is_over:
            self._hear(server_id, notification)

    def lost(self, link: VoteLink) -> None:
        server_id = link.server_id
        if server_id is None or self._links.get(server_id) is not link:
            return
        del self._links[server_id]
        if server_id in self._entrusted:  # It may have been dead already. But ask only once.
            self._entrusted.discard(server_id)
            self._dial(server_id)


def read_addresses(hello: Hello) -> Sequence[Address]:
    """Where a server says that it listens; what makes no sense is left out."""
    found = []
    for text in hello.addresses:
        try:
            address = read_client_address(text)
        except ValueError:
            continue
        if address.host != ANY_HOST:
            found.append(address)
    return tuple(found)
