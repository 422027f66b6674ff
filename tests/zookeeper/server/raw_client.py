"""A client that is nothing but a socket: bytes out, frames in."""

from __future__ import annotations

import socket
from struct import pack, unpack

from odradek.zookeeper.wire.messages.session import ConnectRequest, ConnectResponse

PATIENCE_S = 20.0
NO_PASSWORD = bytes(16)


class RawClient:
    """One connection; a frame is what follows its length."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self._socket = socket.create_connection((host, port), PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def __enter__(self) -> RawClient:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes as they are; a server that is gone will be noticed by who reads."""
        try:
            self._socket.sendall(data)
        except ConnectionError:
            return

    def send_frame(self, body: bytes) -> None:
        self.send(pack(">i", len(body)) + body)

    def receive(self) -> bytes | None:
        """The next frame, or None if the server has ended the connection."""
        start = self._take(4)
        return None if start is None else self._take(unpack(">i", start)[0])

    def receive_all(self) -> bytes:
        """All that comes until the server ends the connection."""
        while self._fill():
            pass
        rest, self._received = self._received, b""
        return rest

    def open_session(self, timeout_ms: int = 10_000) -> ConnectResponse:
        """Ask for a new session, and get it."""
        self.send_frame(ConnectRequest(0, 0, timeout_ms, 0, NO_PASSWORD, False).encode())
        answer = self.receive()
        assert answer is not None, "the server ended the connection"
        return ConnectResponse.decode(answer)

    def _take(self, count: int) -> bytes | None:
        while len(self._received) < count:
            if not self._fill():
                return None
        taken, self._received = self._received[:count], self._received[count:]
        return taken

    def _fill(self) -> bool:
        try:
            data = self._socket.recv(65536)
        except ConnectionError:
            return False
        self._received += data
        return bool(data)
