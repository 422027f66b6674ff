"""One connection to one server: from its first frame to the reason why it was lost.

It sends what it is given and answers the calls in flight, in order. It pings when it has sent
nothing for a third of the session's time-out, and gives up when it has heard nothing for two
thirds: the last third is for finding another server.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.client.calls import Call
from odradek.zookeeper.client.errors import AuthFailed, ConnectionLoss
from odradek.zookeeper.client.proof import Proof
from odradek.zookeeper.wire.codes import Xid
from odradek.zookeeper.wire.connection import ClientConnection, FromServer
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2
from odradek.zookeeper.wire.messages.session import AuthPacket, ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.replies import Notification, Reply

PING_S_MAX = 10.0
TIMER_SLACK_S = 0.001  # Timers may come early, by as much as the clock is coarse.
SECOND_LOOK_S = 0.01


@dataclass(eq=False, slots=True)
class Auth:
    """Who we say we are. Each new connection is told; `future` wants to hear the first answer."""

    packet: AuthPacket
    future: asyncio.Future[None] | None = None

    def accept(self) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_result(None)

    def refuse(self, error: Exception) -> None:
        if self.future is not None and not self.future.done():
            self.future.set_exception(error)


class Link(asyncio.BufferedProtocol):
    """The shell around a `ClientConnection`.

    `opened` is the server's answer to our first frame, or None if there is none. Whoever waits
    in `until_lost` is woken before any caller whose request was in flight.
    """

    def __init__(
        self,
        wire: ClientConnection,
        hello: ConnectRequest,
        hear: Callable[[Notification], None],
    ) -> None:
        self._loop = loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[ConnectResponse | None] = loop.create_future()
        self.last_zxid = hello.last_zxid_seen
        self.proof = Proof(loop.time())
        self._heard_at = self._sent_at = loop.time()
        self._lost = asyncio.Event()
        self._reason: Exception | None = None
        self._wire = wire
        self._hello = hello
        self._hear = hear
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._read_timeout_s = self._ping_after_s = 0.0
        self._in_flight: deque[Call] = deque()
        self._pings: deque[object] = deque()  # A name for each that is not answered yet.
        self._auths: deque[Auth] = deque()  # Told to the server, not answered yet.
        self._out: list[bytes] = []  # Frames of this turn of the loop.

    @property
    def is_open(self) -> bool:
        return self._reason is None

    @property
    def next_xid(self) -> int:
        return self._wire.next_xid

    async def until_lost(self) -> Exception:
        """Return the reason for the end, once there is one."""
        await self._lost.wait()
        assert self._reason is not None
        return self._reason

    def send(self, call: Call) -> None:
        """Send a request; it is answered, or failed when the connection is lost."""
        assert self.is_open
        _, frame = self._wire.request(call.op, call.record)
        self._in_flight.append(call)
        if self.proof.awaited is None:
            self.proof.ask(call, self._loop.time())
        self._write(frame)

    def authenticate(self, auth: Auth) -> None:
        self._auths.append(auth)
        self._write(self._wire.authenticate(auth.packet))

    def set_watches(self, watches: SetWatches | SetWatches2) -> None:
        self._write(self._wire.set_watches(watches))

    def keep_alive(self, timeout_s: float) -> None:
        """Begin to ping and to mind silence, now that the session's time-out is known."""
        self._read_timeout_s = timeout_s * 2 / 3
        self._ping_after_s = min(timeout_s / 3, PING_S_MAX)
        self._tick()

    def drop(self, reason: Exception) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()
        self._end(reason)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(self._wire.connect(self._hello))

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._wire.get_buffer()

    def buffer_updated(self, nbytes: int) -> None:
        self._heard_at = self._loop.time()
        try:
            for message in self._wire.received(nbytes):
                self._take(message)
        except ProtocolError as error:
            self.drop(error)

    def connection_lost(self, exc: Exception | None) -> None:
        self._end(exc or ConnectionResetError("the server closed the connection"))

    def _take(self, message: FromServer) -> None:
        if isinstance(message, Reply):
            self._take_reply(message)
        elif isinstance(message, Notification):
            # It does not count as seen: one multi fires several under the same zxid, and
            # who says to have seen that zxid is never told the rest.
            self._hear(message)
        elif not self.opened.done():
            self.opened.set_result(message)

    def _take_reply(self, reply: Reply) -> None:
        if reply.zxid > 0:
            self.last_zxid = reply.zxid
        if reply.xid > 0:
            # Still in flight while it is answered: if that fails, it is failed with the others.
            self._in_flight[0].answer(reply)
            self.proof.answer(self._in_flight.popleft())
        elif reply.xid == Xid.PING:
            self.proof.answer(self._pings.popleft())
        elif reply.xid == Xid.AUTH:
            self._take_auth_reply(reply)
        elif reply.err != Error.OK:
            raise ProtocolError(f"error {reply.err} in reply to xid {reply.xid}")

    def _take_auth_reply(self, reply: Reply) -> None:
        auth = self._auths.popleft()
        if reply.err == Error.OK:
            auth.accept()
            return
        error = AuthFailed(auth.packet.scheme)
        auth.refuse(error)
        self.drop(error)

    def _write(self, frame: bytes) -> None:
        if not self._out:
            self._loop.call_soon(self._flush)
        self._out.append(frame)

    def _flush(self) -> None:
        """Write all frames of one turn together."""
        frames, self._out = self._out, []
        if self._transport is not None and self.is_open:
            self._sent_at = self._loop.time()
            self._transport.write(b"".join(frames))

    def _tick(self) -> None:
        """Do what is due: a ping, or the end of our patience."""
        now = self._loop.time() + TIMER_SLACK_S
        if now >= self._heard_at + self._read_timeout_s:
            # A loop that was stalled may run its timers before it reads what has come meanwhile.
            self._timer = self._loop.call_later(
                SECOND_LOOK_S, self._drop_if_silent_since, self._heard_at
            )
            return
        if now >= self._sent_at + self._ping_after_s:
            self._ping(now)
        due = min(self._heard_at + self._read_timeout_s, self._sent_at + self._ping_after_s)
        self._timer = self._loop.call_at(due, self._tick)

    def _ping(self, now: float) -> None:
        self._sent_at = now
        self._pings.append(object())
        self.proof.ask(self._pings[-1], now - TIMER_SLACK_S)
        self._write(self._wire.ping())

    def _drop_if_silent_since(self, heard_at: float) -> None:
        if self._heard_at == heard_at:
            self.drop(TimeoutError(f"nothing heard for {self._read_timeout_s:g} s"))
        else:
            self._tick()

    def _end(self, reason: Exception) -> None:
        if not self.is_open:
            return
        self._reason = reason
        self._lost.set()
        if self._timer is not None:
            self._timer.cancel()
        if not self.opened.done():
            self.opened.set_result(None)
        for call in self._in_flight:
            call.fail(ConnectionLoss)
        self._in_flight.clear()
