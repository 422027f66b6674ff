"""A server that does as a test tells it, in a world with virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

from odradek.simulation.processes import Environment
from odradek.simulation.world import World
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.connection import ServerConnection
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import Stat
from odradek.zookeeper.wire.messages.requests import CreateRequest
from odradek.zookeeper.wire.messages.responses import (
    CreateResponse,
    GetChildrenResponse,
    GetDataResponse,
    WatcherEvent,
)
from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.operations import Body
from odradek.zookeeper.wire.replies import encode_notification, encode_reply
from odradek.zookeeper.wire.requests import Request

STAT = Stat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
PASSWORD = b"sixteen bytes...."[:16]
PORT = 2181

Story = Callable[[ZooKeeperClient], Awaitable[None]]


class ScriptedServer:
    """Answers by default as a server with any znode you ask for; tests change what they need."""

    def __init__(self, *, session_id: int = 7, timeout_ms: int = 6000) -> None:
        self.session_id = session_id
        self.timeout_ms = timeout_ms
        self.is_read_only = False
        self.is_silent = False  # Reads on, says nothing.
        self.zxid = 100
        self.connects: list[ConnectRequest] = []
        self.requests: list[Request] = []
        self.links: list[ScriptedConnection] = []
        self.answer_connect: Callable[[ConnectRequest], ConnectResponse | None] = self.welcome
        self.answer: Callable[[Request], bytes | None] = self.reply

    async def serve(self, environment: Environment) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_server(lambda: ScriptedConnection(self), port=PORT)
        await asyncio.Event().wait()

    def asked(self, op: Op) -> list[Request]:
        """The requests of one kind that came."""
        return [request for request in self.requests if request.type == op]

    def welcome(self, request: ConnectRequest) -> ConnectResponse | None:
        return ConnectResponse(0, self.timeout_ms, self.session_id, PASSWORD, self.is_read_only)

    def expire(self, request: ConnectRequest) -> ConnectResponse | None:
        return ConnectResponse(0, 0, 0, bytes(16), read_only=False)

    def reply(self, request: Request, err: int = 0) -> bytes:
        record = None if err else self._result(request)
        return encode_reply(request.xid, self.zxid, record, err)

    def notify(self, event_type: int, path: str) -> None:
        """Tell all connections of an event."""
        for link in self.links:
            link.transport.write(encode_notification(-1, WatcherEvent(event_type, 3, path)))

    def hang_up(self) -> None:
        for link in list(self.links):
            link.transport.abort()

    def _result(self, request: Request) -> Body | None:
        match request.type:
            case Op.CREATE:
                return CreateResponse(cast(CreateRequest, request.record).path)
            case Op.GET_DATA:
                return GetDataResponse(b"data", STAT)
            case Op.GET_CHILDREN:
                return GetChildrenResponse(["a", "b"])
        return None


class ScriptedConnection(asyncio.Protocol):
    """One client of a scripted server."""

    transport: asyncio.Transport

    def __init__(self, server: ScriptedServer) -> None:
        self._server = server
        self._wire = ServerConnection()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._server.links.append(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.links.remove(self)

    def data_received(self, data: bytes) -> None:
        for message in self._wire.feed(data):
            if isinstance(message, ConnectRequest):
                self._hear_connect(message)
            elif isinstance(message, Request):
                self._hear(message)
            else:
                self.transport.write(b"ro" if self._server.is_read_only else b"rw")

    def _hear_connect(self, request: ConnectRequest) -> None:
        self._server.connects.append(request)
        answer = self._server.answer_connect(request)
        if answer is None:
            self.transport.close()
        elif not self._server.is_silent:
            self.transport.write(self._wire.answer_connect(answer))

    def _hear(self, request: Request) -> None:
        self._server.requests.append(request)
        answer = self._server.answer(request)
        if answer is not None and not self._server.is_silent:
            self.transport.write(answer)


def no_node(server: ScriptedServer) -> Callable[[Request], bytes]:
    """Let no znode exist."""
    return lambda request: server.reply(request, Error.NO_NODE if request.type > 0 else 0)


def play(
    story: Story,
    *servers: ScriptedServer,
    session_timeout_ms: int = 6000,
    chroot: str = "",
    can_be_read_only: bool = False,
    auth: tuple[tuple[str, bytes], ...] = (),
    seed: int = 1,
) -> None:
    """Play a story with a client that knows these servers; it is not connected yet."""

    async def main(environment: Environment) -> None:
        client = ZooKeeperClient(
            ",".join(names) + chroot,
            random=environment.random,
            session_timeout_ms=session_timeout_ms,
            can_be_read_only=can_be_read_only,
            auth=auth,
        )
        try:
            await story(client)
        finally:
            await client.close()

    names = [f"server{number}" for number in range(len(servers))]
    with World(seed) as world:
        for name, server in zip(names, servers, strict=True):
            world.host(name).start(server.serve)
        process = world.host("client").start(main)
        world.run_until(lambda: process.is_dead)


async def pass_time(seconds: float) -> None:
    """Let virtual time pass."""
    await asyncio.sleep(seconds)
