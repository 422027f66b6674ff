"""Transports: asyncio's contract, kept on a simulated socket.

Order of calls on a protocol: `connection_made`, then data, then perhaps `eof_received`, then
`connection_lost` once and nothing after it. All of them come from the loop, none from inside a
call on the transport, but for `pause_writing`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextvars import copy_context
from typing import Protocol

from odradek.simulation.network.inflow import Inflow
from odradek.simulation.network.outflow import Outflow
from odradek.simulation.network.socket_view import SocketView
from odradek.simulation.network.sockets import Socket

Data = bytes | bytearray | memoryview


class Owner(Protocol):
    """A server, as the transports of its connections see it."""

    def detach(self, transport: SimulatedTransport) -> None: ...


class SimulatedTransport(asyncio.Transport):
    """A connection, for its protocol."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        socket: Socket,
        protocol: asyncio.BaseProtocol,
        owner: Owner | None = None,
    ) -> None:
        view = SocketView(socket.name, socket.peer.name)
        super().__init__({"socket": view, "sockname": socket.name, "peername": socket.peer.name})
        self._loop = loop
        self._socket = socket
        self._protocol = protocol
        self._owner = owner
        self._context = copy_context()
        self._inflow = Inflow(self, socket, protocol)
        self._outflow = Outflow(self, socket, protocol)
        self._is_closing = False
        self._is_lost = False  # `connection_lost` was called, or is about to be.
        socket.watcher = self
        loop.call_soon(protocol.connection_made, self, context=self._context)
        self.soon(self._inflow.start)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = self._outflow.protocol = protocol
        self._inflow.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def is_closing(self) -> bool:
        return self._is_closing or self._socket.is_closed

    def close(self) -> None:
        """Send what is left, then end."""
        if not self._is_closing:
            self._is_closing = self._inflow.is_stopped = True
            if not self._outflow.waiting_bytes:
                self._lose(None)

    def abort(self) -> None:
        """End at once, whatever is left."""
        self._lose(None)

    def is_reading(self) -> bool:
        return not self._inflow.is_paused and not self.is_closing()

    def pause_reading(self) -> None:
        self._inflow.is_paused = True

    def resume_reading(self) -> None:
        self._inflow.is_paused = False
        self._inflow.wake()

    def readable(self) -> None:
        self._inflow.wake()

    def write(self, data: Data) -> None:
        if not isinstance(data, (bytes, bytearray, memoryview)):
            kind = type(data).__name__
            raise TypeError(f"data argument must be a bytes-like object, not {kind!r}")
        self._outflow.write(bytes(data))

    def writelines(self, list_of_data: Iterable[Data]) -> None:
        self._outflow.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        if not self.is_closing():
            self._outflow.finish()

    def writable(self) -> None:
        if self._outflow.waiting_bytes:
            self.soon(self._flush)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._outflow.set_limits(high, low)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._outflow.low_bytes, self._outflow.high_bytes

    def get_write_buffer_size(self) -> int:
        return self._outflow.waiting_bytes

    def soon(self, callback: Callable[[], None]) -> None:
        self._loop.call_soon(callback, context=self._context)

    def fail(self, error: Exception) -> None:
        """Lose the connection."""
        # That a connection broke is no news to the loop, that a protocol did is.
        if not isinstance(error, OSError):
            self.report(error)
        self._lose(error)

    def report(self, error: Exception) -> None:
        context = {"message": "a protocol raised", "exception": error, "transport": self}
        self._loop.call_exception_handler(context)

    def _flush(self) -> None:
        if self._outflow.flush() and self._is_closing:
            self._lose(None)

    def _lose(self, error: Exception | None) -> None:
        if not self._is_lost:
            self._is_lost = self._is_closing = self._inflow.is_stopped = True
            self._outflow.stop()
            self._loop.call_soon(self._connection_lost, error, context=self._context)

    def _connection_lost(self, error: Exception | None) -> None:
        try:
            self._protocol.connection_lost(error)
        finally:
            self._outflow.is_over = True
            self._socket.watcher = None
            self._socket.close()
            if self._owner is not None:
                self._owner.detach(self)
