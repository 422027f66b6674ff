"""The reading half of a transport: one read a turn, until nothing is left or wanted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from odradek.simulation.network.sockets import Socket

READ_BYTES_MAX = 256 * 1024


class Whole(Protocol):
    """A transport, as its halves see it."""

    def soon(self, callback: Callable[[], None]) -> None: ...

    def close(self) -> None: ...

    def fail(self, error: Exception) -> None: ...

    def report(self, error: Exception) -> None: ...


class Inflow:
    """Bytes on their way from the socket to the protocol."""

    __slots__ = (
        "_is_due",
        "_is_ended",
        "_is_started",
        "_protocol",
        "_receive",
        "_socket",
        "_whole",
        "is_paused",
        "is_stopped",
    )

    def __init__(self, whole: Whole, socket: Socket, protocol: asyncio.BaseProtocol) -> None:
        self._whole = whole
        self._socket = socket
        self._is_started = False
        self._is_due = False
        self._is_ended = False
        self.is_paused = False
        self.is_stopped = False
        self.set_protocol(protocol)

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol
        is_buffered = isinstance(protocol, asyncio.BufferedProtocol)
        self._receive = self._receive_into_buffer if is_buffered else self._receive_bytes

    def start(self) -> None:
        """Read from now on: the protocol has heard of its connection."""
        self._is_started = True
        self.wake()

    def wake(self) -> None:
        """Read soon, if there is something and it is wanted."""
        if not self._is_due and self._can_read():
            self._is_due = True
            self._whole.soon(self._read)

    def _can_read(self) -> bool:
        is_wanted = self._is_started and not self.is_paused
        is_over = self._is_ended or self.is_stopped
        return is_wanted and not is_over and self._socket.is_readable

    def _read(self) -> None:
        self._is_due = False
        if not self._can_read():
            return
        try:
            if self._socket.is_at_end:
                self._end()
            else:
                self._receive()
        except Exception as error:
            self._whole.fail(error)
        self.wake()

    def _receive_bytes(self) -> None:
        self._protocol.data_received(self._socket.receive(READ_BYTES_MAX))

    def _receive_into_buffer(self) -> None:
        buffer = memoryview(self._protocol.get_buffer(-1)).cast("B")
        if not buffer:
            raise RuntimeError("get_buffer() returned an empty buffer")
        data = self._socket.receive(len(buffer))
        buffer[: len(data)] = data
        self._protocol.buffer_updated(len(data))

    def _end(self) -> None:
        self._is_ended = True
        if not self._protocol.eof_received():
            self._whole.close()
