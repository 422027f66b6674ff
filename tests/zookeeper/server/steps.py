"""Steps: what clients do to a server, one after the other, as plain text and back.

    A open 00000000…    a new connection, and on it this ConnectRequest
    A say 0000000c…     these bytes: one frame, several, or none that makes sense
    A cut               the connection ends, the session does not

A step does not depend on what a server said before, except that sessions have numbers here: the
first session that was opened in a stream is 1. Whoever plays the step puts in the real id, and
the real password in the place of no password.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from struct import Struct
from typing import Self

from odradek.zookeeper.wire.messages.session import ConnectRequest

NO_PASSWORD = bytes(16)
LENGTH = Struct(">i")
HEADER = Struct(">iii")  # Length, xid, type.


class Deed(StrEnum):
    OPEN = "open"
    SAY = "say"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Step:
    """What one client does; `client` is its name, a letter."""

    client: str
    deed: Deed
    payload: bytes = b""

    @classmethod
    def parse(cls, text: str) -> Self:
        client, deed, *payload = text.split(" ")
        return cls(client, Deed(deed), bytes.fromhex("".join(payload)))

    def text(self) -> str:
        return f"{self.client} {self.deed} {self.payload.hex()}".rstrip()

    def requests(self) -> list[tuple[int, int]]:
        """The xid and the type of each request in the payload, as far as its frames are whole."""
        found: list[tuple[int, int]] = []
        position = 0
        while len(self.payload) - position >= HEADER.size:
            size, xid, op = HEADER.unpack_from(self.payload, position)
            position += LENGTH.size + size
            if size < 0 or position > len(self.payload):
                break
            found.append((xid, op))
        return found


def opening(
    client: str,
    session: int = 0,
    *,
    last_zxid: int = 0,
    timeout_ms: int = 30_000,
    password: bytes = NO_PASSWORD,
    read_only: bool | None = False,
) -> Step:
    """Open a new session, or go on with the session of this number."""
    request = ConnectRequest(0, last_zxid, timeout_ms, session, password, read_only)
    return Step(client, Deed.OPEN, request.encode())


def saying(client: str, *frames: bytes) -> Step:
    """Send frames, lengths included, all at once."""
    return Step(client, Deed.SAY, b"".join(frames))
