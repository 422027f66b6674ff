"""The listeners of a broker: bound first, so that the port is known, opened when it can serve."""

from __future__ import annotations

import asyncio
import socket
from functools import partial

from odradek.kafka.server.clients import Clients
from odradek.kafka.server.connection import Connection
from odradek.kafka.settings import BrokerSettings, Endpoint, SecurityProtocol
from odradek.runtime.errors import OdradekError
from odradek.runtime.logs import NodeLog

BACKLOG_MIN = 1024  # Apache's 50 is too few for clients that all come at once.


class ListenerRefused(OdradekError):
    """A listener cannot be opened."""


class Listening:
    """All listeners of one broker."""

    def __init__(self, clients: Clients, note: NodeLog) -> None:
        self._clients = clients
        self._note = note
        self._servers: dict[str, asyncio.AbstractServer] = {}

    async def bind(self, settings: BrokerSettings) -> None:
        """Take the ports; nobody is heard yet."""
        for endpoint in settings.listeners:
            if endpoint.protocol is not SecurityProtocol.PLAINTEXT:
                raise ListenerRefused(
                    f"listener {endpoint}: {endpoint.protocol.value} is not served yet"
                )
            self._servers[endpoint.name] = await self._bound(endpoint, settings)

    async def _bound(self, endpoint: Endpoint, settings: BrokerSettings) -> asyncio.AbstractServer:
        try:
            server = await asyncio.get_running_loop().create_server(
                partial(Connection, self._clients, endpoint.name),
                endpoint.host or None,
                endpoint.port,
                backlog=max(settings.socket_listen_backlog_size, BACKLOG_MIN),
                start_serving=False,
            )
            size_buffers(server, settings)
            return server
        except OSError as error:
            raise ListenerRefused(f"listener {endpoint}: {error.strerror or error}") from error

    async def open(self) -> None:
        """Hear who comes."""
        for name, server in self._servers.items():
            await server.start_serving()
            self._note.info("serves %s on port %s", name, self.port(name))

    def port(self, name: str) -> int:
        """The port that is open, also where any free one was asked for."""
        sockets: list[socket.socket] = self._servers[name].sockets  # type: ignore[attr-defined]
        port: int = sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


def size_buffers(server: asyncio.Server, settings: BrokerSettings) -> None:
    """Give the buffers of sockets a size, where the file or somebody since has named one.

    Without, the system fits them to each connection, which is quicker than Kafka's 100 KiB. What
    a listener has, those inherit whom it accepts.
    """
    given = settings.properties.entries
    for option, key, size in (
        (socket.SO_SNDBUF, "socket.send.buffer.bytes", settings.socket_send_buffer_bytes),
        (socket.SO_RCVBUF, "socket.receive.buffer.bytes", settings.socket_receive_buffer_bytes),
    ):
        for each in server.sockets if key in given and size > 0 else ():
            each.setsockopt(socket.SOL_SOCKET, option, size)
