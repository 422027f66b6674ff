"""The writing half of a transport: what the socket has no room for waits here.

Above the high mark the protocol is told to pause, at the low one to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from odradek.simulation.network.inflow import Whole
from odradek.simulation.network.sockets import Socket

HIGH_BYTES = 64 * 1024


class Outflow:
    """Bytes on their way from the protocol to the socket."""

    __slots__ = (
        "_is_finished",
        "_is_paused",
        "_socket",
        "_waiting",
        "_whole",
        "high_bytes",
        "is_over",
        "is_stopped",
        "low_bytes",
        "protocol",
    )

    def __init__(self, whole: Whole, socket: Socket, protocol: Any) -> None:
        self.protocol = protocol
        self.is_stopped = False
        self.is_over = False  # The protocol was told: who writes now has not listened.
        self._whole = whole
        self._socket = socket
        self._waiting = bytearray()
        self._is_paused = False
        self._is_finished = False
        self.set_limits(None, None)

    @property
    def waiting_bytes(self) -> int:
        return len(self._waiting)

    def set_limits(self, high: int | None, low: int | None) -> None:
        if high is None:
            high = HIGH_BYTES if low is None else 4 * low
        if low is None:
            low = high // 4
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self.high_bytes = high
        self.low_bytes = low
        self._pause_if_needed()

    def write(self, data: bytes) -> None:
        if self.is_over:
            raise RuntimeError("unable to write; the connection was lost")
        if self._is_finished:
            raise RuntimeError("Cannot call write() after write_eof()")
        if self.is_stopped or self._socket.is_closed or not data:
            return
        try:
            taken = 0 if self._waiting else self._socket.send(data)
        except OSError as error:
            self._whole.fail(error)
            return
        if taken < len(data):
            self._waiting += data[taken:]
            self._pause_if_needed()

    def finish(self) -> None:
        """Send what waits, then an end."""
        if not self._is_finished:
            self._is_finished = True
            if not self._waiting:
                self._socket.finish()

    def stop(self) -> None:
        """Send nothing more, not even what waits."""
        self.is_stopped = True
        self._waiting.clear()

    def flush(self) -> bool:
        """Send what there is room for; whether that was the last of it."""
        if self.is_stopped or not self._waiting:
            return False
        try:
            self._pour()
        except OSError as error:
            self._whole.fail(error)
            return False
        if self._is_paused and len(self._waiting) <= self.low_bytes:
            self._is_paused = False
            self._call(self.protocol.resume_writing)
        if self._waiting:
            return False
        if self._is_finished:
            self._socket.finish()
        return True

    def _pour(self) -> None:
        with memoryview(self._waiting) as waiting:
            count = self._socket.send(waiting)
        del self._waiting[:count]

    def _pause_if_needed(self) -> None:
        if not self._is_paused and len(self._waiting) > self.high_bytes:
            self._is_paused = True
            self._call(self.protocol.pause_writing)

    def _call(self, callback: Callable[[], None]) -> None:
        """Tell the protocol; if it fails at this, the connection still goes on."""
        try:
            callback()
        except Exception as error:
            self._whole.report(error)
