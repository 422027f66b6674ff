"""A connection to another broker: one question at a time, or several, each with its answer.

It is opened for a question and kept until something goes wrong; then every question under way
fails, and the next one opens another. Nothing is asked twice here: only who asks knows whether it
may be. Answers come in the order of the questions, so one timer looks after the oldest of them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import cast

from odradek.kafka.settings.endpoints import Endpoint, SecurityProtocol
from odradek.kafka.wire.connection import ClientConnection, Written
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import OdradekError, ProtocolError
from odradek.runtime.prompt import Write, prompt_write
from odradek.runtime.rooms import Rooms

PAUSE_S = 0.1
ROUNDING_S = 1e-6


class PeerLost(OdradekError):
    """There is no answer: the connection could not be made, broke, or was silent for too long."""


class PeerProtocol(asyncio.BufferedProtocol):
    """The socket's side: bytes to answers."""

    _write: Write

    def __init__(self, client_id: str, timeout_s: float, rooms: Rooms) -> None:
        self._wire = ClientConnection(client_id)
        self._wire.frames.lender = rooms.lend
        self._loop = asyncio.get_running_loop()
        self._timeout_s = timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.Transport | None = None
        # What was asked and is not answered, and until when it must be.
        self._asked: deque[tuple[asyncio.Future[Message], float]] = deque()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def ask(self, message: Message | Written, version: int) -> asyncio.Future[Message]:
        assert self._transport is not None
        future: asyncio.Future[Message] = self._loop.create_future()
        self._wire.send(message, version)
        self._asked.append((future, self._loop.time() + self._timeout_s))
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout_s, self._look)
        self._write(b"".join(self._wire.take_output()))
        return future

    def drop(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent.
        self._write = prompt_write(self._transport)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._wire.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        try:
            for response in self._wire.receive(nbytes):
                future, _ = self._asked.popleft()
                if not future.done():
                    future.set_result(response.message)
        except ProtocolError as error:
            self._fail(f"it broke the protocol: {error}")
            self.drop()

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._fail(f"the connection is lost: {error or 'closed by the peer'}")

    def _look(self) -> None:
        """Give up if the oldest question should have been answered by now."""
        self._timer = None
        if not self._asked:
            return
        _, until_s = self._asked[0]
        if until_s > self._loop.time() + ROUNDING_S:
            self._timer = self._loop.call_at(until_s, self._look)
        else:
            self._fail("no answer in time")
            self.drop()

    def _fail(self, reason: str) -> None:
        while self._asked:
            future, _ = self._asked.popleft()
            if not future.done():
                future.set_exception(PeerLost(reason))


class Peer:
    """One broker to talk to."""

    def __init__(self, endpoint: Endpoint, client_id: str, timeout_s: float) -> None:
        self.endpoint = endpoint
        self._client_id = client_id
        self._timeout_s = timeout_s
        self._protocol: PeerProtocol | None = None
        self._rooms = Rooms()  # For large answers.
        self._connecting = asyncio.Lock()  # Those who ask at once share one connection.

    async def ask(self, message: Message | Written, version: int) -> Message:
        """Send a request; its answer. Raises `PeerLost`."""
        protocol = self._protocol
        if protocol is None or not protocol.is_open:
            protocol = await self._connected_in_time()
        try:
            return await protocol.ask(message, version)
        except PeerLost as error:
            raise PeerLost(f"{self.endpoint}: {error}") from error

    def close(self) -> None:
        if self._protocol is not None:
            self._protocol.drop()
            self._protocol = None

    async def _connected_in_time(self) -> PeerProtocol:
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._connected()
        except (TimeoutError, OSError) as error:
            self.close()
            raise PeerLost(f"{self.endpoint}: {str(error) or 'no answer in time'}") from error

    async def _connected(self) -> PeerProtocol:
        async with self._connecting:
            if self._protocol is None or not self._protocol.is_open:
                self._protocol = await self._connect()
            return self._protocol

    async def _connect(self) -> PeerProtocol:
        if self.endpoint.protocol is not SecurityProtocol.PLAINTEXT:
            raise PeerLost(f"{self.endpoint}: only PLAINTEXT is spoken among brokers so far")
        _, protocol = await asyncio.get_running_loop().create_connection(
            lambda: PeerProtocol(self._client_id, self._timeout_s, self._rooms),
            self.endpoint.host,
            self.endpoint.port,
        )
        return protocol
