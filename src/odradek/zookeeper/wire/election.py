"""What servers say to each other on the election port: a hello, then framed notifications.

Only the server that opened the connection says hello. Its first long is a version, which is
negative; very old servers sent their id alone, which is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from struct import error as struct_error
from typing import Self

from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import LENGTH, Frame, FrameReader
from odradek.zookeeper.wire.codes import ServerState

ONE_ADDRESS = -65536
SEVERAL_ADDRESSES = -65535
ADDRESS_BYTES_MAX = 2048
FRAME_BYTES_MAX = 524288
NOTIFICATION_VERSION = 2

LONG = Struct(">q")
HELLO = Struct(">qqi")
VOTE = Struct(">iqqq")  # All that a notification once was.
EPOCH_AND_VERSION = Struct(">qi")
UNVERSIONED_BYTES = VOTE.size + EPOCH_AND_VERSION.size


@dataclass(frozen=True, slots=True)
class Hello:
    """Who opened the connection, and where it listens for elections: `host:port` each."""

    server_id: int
    addresses: tuple[str, ...]

    @classmethod
    def read(cls, data: bytes) -> tuple[Self, int] | None:
        """The hello at the start of a stream and where it ends, or None if there is more to it."""
        if len(data) < LONG.size:
            return None
        (version,) = LONG.unpack_from(data)
        if version >= 0:
            return cls(version, ()), LONG.size
        if version not in (ONE_ADDRESS, SEVERAL_ADDRESSES):
            raise ProtocolError(f"an election protocol of version {version}")
        return cls._read_addresses(data)

    @classmethod
    def _read_addresses(cls, data: bytes) -> tuple[Self, int] | None:
        if len(data) < HELLO.size:
            return None
        _, server_id, size = HELLO.unpack_from(data)
        if not 0 < size <= ADDRESS_BYTES_MAX:
            raise ProtocolError(f"addresses of {size} bytes; the limit is {ADDRESS_BYTES_MAX}")
        end = HELLO.size + size
        if len(data) < end:
            return None
        try:
            addresses = data[HELLO.size : end].decode()
        except UnicodeDecodeError as error:
            raise ProtocolError(f"addresses that are no text: {error}") from error
        return cls(server_id, tuple(addresses.split("|"))), end

    def encode(self) -> bytes:
        version = ONE_ADDRESS if len(self.addresses) == 1 else SEVERAL_ADDRESSES
        addresses = "|".join(self.addresses).encode()
        return HELLO.pack(version, self.server_id, len(addresses)) + addresses


@dataclass(frozen=True, slots=True)
class Notification:
    """A server's vote. `version` is 0 from servers that did not say it, and `config` empty."""

    state: ServerState
    leader: int
    zxid: int
    election_epoch: int
    peer_epoch: int
    version: int = NOTIFICATION_VERSION
    config: str = ""

    @classmethod
    def decode(cls, data: bytes) -> Self | None:
        """Read any form there ever was; what is too short even for the first is no vote."""
        if len(data) < VOTE.size:
            return None
        try:
            return cls._read(data)
        except (struct_error, ValueError) as error:
            raise ProtocolError(f"a notification of {len(data)} bytes: {error}") from error

    @classmethod
    def _read(cls, data: bytes) -> Self:
        number, leader, zxid, election_epoch = VOTE.unpack_from(data)
        state = ServerState(number)
        if len(data) == VOTE.size:
            return cls(state, leader, zxid, election_epoch, zxid >> 32, version=0)
        peer_epoch, version = EPOCH_AND_VERSION.unpack_from(data, VOTE.size)
        if len(data) == UNVERSIONED_BYTES:
            version = 0  # The original does not look at it in this form.
        config = _read_config(data) if version >= NOTIFICATION_VERSION else ""
        return cls(state, leader, zxid, election_epoch, peer_epoch, version, config)

    def encode(self) -> bytes:
        """The form of today; nobody has to write the older ones."""
        config = self.config.encode()
        vote = VOTE.pack(self.state, self.leader, self.zxid, self.election_epoch)
        epoch = EPOCH_AND_VERSION.pack(self.peer_epoch, NOTIFICATION_VERSION)
        return vote + epoch + LENGTH.pack(len(config)) + config


class ElectionReader:
    """One peer's stream. Notifications that are no votes are left out."""

    __slots__ = ("_frames", "_hello")

    def __init__(self, *, expects_hello: bool) -> None:
        self._frames = FrameReader(FRAME_BYTES_MAX)
        self._hello: bytes | None = b"" if expects_hello else None  # What has come of it.

    def feed(self, data: bytes) -> list[Hello | Notification]:
        """Take bytes of the stream; return what they complete."""
        if self._hello is None:
            return [vote for vote in map(_open_frame, self._frames.feed(data)) if vote]
        self._hello += data
        found = Hello.read(self._hello)
        if found is None:
            return []
        hello, end = found
        rest, self._hello = self._hello[end:], None
        return [hello, *self.feed(rest)]


def encode_frame(notification: Notification) -> bytes:
    """One frame, with its length."""
    payload = notification.encode()
    return LENGTH.pack(len(payload)) + payload


def _open_frame(frame: Frame) -> Notification | None:
    if not frame:
        raise ProtocolError("an empty frame on the election port")
    return Notification.decode(bytes(frame))


def _read_config(data: bytes) -> str:
    (size,) = LENGTH.unpack_from(data, UNVERSIONED_BYTES)
    start = UNVERSIONED_BYTES + LENGTH.size
    if not 0 <= size <= len(data) - start:
        raise ProtocolError(f"a configuration of {size} bytes in a notification")
    return data[start : start + size].decode()
