"""The stream between a leader and its learners: packets with no frame around them.

Where a packet ends is known only from its fields, so the reader steps from length to length and
remembers how far it came: each byte is looked at once, however the stream is cut. After a SNAP
packet the leader sends a snapshot as it is; the reader then keeps its hands off until told that
packets go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import PacketType
from odradek.zookeeper.wire.connection import JUTE_MAXBUFFER
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import ForwardedHeader, QuorumPacket, SessionTouch

PROTOCOL_VERSION = 0x10000
SNAPSHOT_END = "BenWasHere"  # The string after a snapshot on this stream.

# A proposal holds what a client's whole frame held, with a header and a digest around it. The
# original, too, allows twice the client's limit here (ZOOKEEPER-3496).
DATA_BYTES_MAX = 2 * JUTE_MAXBUFFER

START = Struct(">iqi")
BARE = Struct(">iqii")  # A whole packet, if it has neither data nor authinfo.
LENGTH = Struct(">i")
ID_BYTES_LEAST = 2 * LENGTH.size
NO_AUTHINFO = LENGTH.pack(-1)
START_BYTES, BARE_BYTES = START.size, BARE.size
SNAP = int(PacketType.SNAP)
TOUCH_BYTES = 12
AUTHINFOS_KEPT, AUTHINFO_SIZES_KEPT, AUTHINFO_BYTES_KEPT = 1000, 4, 256

_write_start = START.pack
_read_bare, _write_bare = BARE.unpack_from, BARE.pack


def encode_packets(packets: Sequence[QuorumPacket]) -> bytes:
    """Packets as they follow each other on the stream."""
    parts: list[bytes] = []
    for packet in packets:
        data = packet.data
        if packet.authinfo is not None:
            parts.append(packet.encode())
        elif data is None:
            parts.append(_write_bare(packet.type, packet.zxid, -1, -1))
        else:
            parts += (_write_start(packet.type, packet.zxid, len(data)), data, NO_AUTHINFO)
    return b"".join(parts)


class PacketReader:
    """One peer's stream of packets. Neither `data` nor `authinfo` may exceed the limit."""

    __slots__ = (
        "_authinfo_end_max",
        "_authinfos",
        "_data_bytes_max",
        "_held",
        "_position",
        "_strings",
        "_type",
        "is_raw",
    )

    def __init__(self, data_bytes_max: int = DATA_BYTES_MAX) -> None:
        self.is_raw = False  # Whether what comes is a snapshot, not packets.
        self._data_bytes_max = data_bytes_max
        self._held = bytearray()
        self._position = 0  # How much of what is held has been stepped over.
        self._type = 0
        self._strings: int | None = None  # How many of authinfo are to come; None before it.
        self._authinfo_end_max = 0
        # Who asks is written out with every request: what came once is known when it comes again.
        self._authinfos: dict[int, dict[bytes, list[Id]]] = {}  # By size.

    def feed(self, data: bytes) -> list[QuorumPacket]:
        """Take bytes of the stream; return the packets they complete, up to a SNAP."""
        if self._held or self.is_raw:
            self._held += data
            return self._take_packets()
        packets: list[QuorumPacket] = []
        rest = self._take_plain(data, packets)
        if rest < len(data):
            self._held += data[rest:]
            packets += self._take_packets()
        return packets

    def take_raw(self) -> bytes:
        """What has come of the snapshot since the last call."""
        assert self.is_raw
        taken = bytes(self._held)
        self._held.clear()
        return taken

    def resume(self, rest: bytes) -> list[QuorumPacket]:
        """The snapshot has ended and `rest` was left over: return the packets in there."""
        assert self.is_raw
        self.is_raw = False
        self._held[:0] = rest
        return self._take_packets()

    def _take_plain(self, data: bytes, packets: list[QuorumPacket]) -> int:
        """Take the packets at the start that are whole and ordinary; say where they end.

        While a leader broadcasts nearly all are: short enough, no SNAP, and with no authinfo or one
        that is known. What is not is left to those who look at every length.
        """
        position, last, size_max = 0, len(data) - BARE_BYTES, self._data_bytes_max
        while position <= last:
            type_, zxid, size, after_size = _read_bare(data, position)
            if size == -1 and after_size == -1 and type_ != SNAP:  # A commit, an ack.
                packets.append(QuorumPacket(type_, zxid, None, None))
                position += BARE_BYTES
                continue
            start = position + START_BYTES
            end = start + size if size > 0 else start
            if not -1 <= size <= size_max or type_ == SNAP:
                break
            authinfo, after = None, end + 4
            if not data.startswith(NO_AUTHINFO, end):
                authinfo, after = self._known_authinfo(data, end)
                if authinfo is None:
                    break
            body = data[start:end] if size >= 0 else None
            packets.append(QuorumPacket(type_, zxid, body, authinfo))
            position = after
        return position

    def _known_authinfo(self, data: bytes, start: int) -> tuple[list[Id] | None, int]:
        """An authinfo that came before, and where it ends; none is the beginning of another."""
        for size, known in self._authinfos.items():
            end = start + size
            if (authinfo := known.get(data[start:end])) is not None:
                return authinfo, end
        return None, start

    def _keep_authinfo(self, packet: QuorumPacket, whole: bytes) -> None:
        """Know it again: the bytes of a packet end with it."""
        if packet.authinfo is not None:
            written = whole[START_BYTES + len(packet.data or b"") :]
            size = len(written)
            known = self._authinfos.get(size)
            has_room = size <= AUTHINFO_BYTES_KEPT and len(self._authinfos) < AUTHINFO_SIZES_KEPT
            if known is None and has_room:
                known = self._authinfos[size] = {}
            if known is not None and len(known) < AUTHINFOS_KEPT:
                known[written] = packet.authinfo

    def _take_packets(self) -> list[QuorumPacket]:
        end = 0
        while not self.is_raw and self._step_over_start() and self._step_over_authinfo():
            end = self._position
            self._strings = None
            self.is_raw = self._type == PacketType.SNAP
        whole = bytes(self._held[:end])
        del self._held[:end]
        self._position -= end
        self._authinfo_end_max -= end
        return self._read_packets(whole)

    def _step_over_start(self) -> bool:
        """Go on to the strings of authinfo; False as long as that takes more bytes."""
        if self._strings is not None:
            return True
        start = self._position
        if len(self._held) < start + START.size:
            return False
        self._type, _, size = START.unpack_from(self._held, start)
        authinfo = start + START.size + self._checked(size)
        if len(self._held) < authinfo + LENGTH.size:
            return False
        (count,) = LENGTH.unpack_from(self._held, authinfo)
        self._checked(count * ID_BYTES_LEAST if count > 0 else count)
        self._strings = 2 * max(count, 0)
        self._position = authinfo + LENGTH.size
        self._authinfo_end_max = self._position + self._data_bytes_max
        return True

    def _step_over_authinfo(self) -> bool:
        """Go on to the next packet; False as long as that takes more bytes."""
        held, end = self._held, len(self._held)
        while self._strings:
            if end < self._position + LENGTH.size:
                return False
            (size,) = LENGTH.unpack_from(held, self._position)
            position = self._position + LENGTH.size + self._checked(size)
            if position > self._authinfo_end_max:
                raise ProtocolError(f"authinfo of more than {self._data_bytes_max} bytes")
            if position > end:
                return False
            self._position = position
            self._strings -= 1
        return True

    def _read_packets(self, whole: bytes) -> list[QuorumPacket]:
        packets = []
        position = 0
        while position < len(whole):
            packet, end = QuorumPacket.read(whole, position)
            self._keep_authinfo(packet, whole[position:end])
            packets.append(packet)
            position = end
        return packets

    def _checked(self, size: int) -> int:
        """How many bytes follow this length; -1 is a null and has none."""
        if not -1 <= size <= self._data_bytes_max:
            raise ProtocolError(f"{size} bytes in a packet; the limit is {self._data_bytes_max}")
        return max(size, 0)


class ForwardedRequest(NamedTuple):
    """The data of a REQUEST: what a learner's client asked, for the leader to decide."""

    session_id: int
    cxid: int
    type: int
    body: bytes

    @classmethod
    def decode(cls, data: bytes) -> ForwardedRequest:
        header, start = ForwardedHeader.read(data)
        return cls(header.session_id, header.cxid, header.type, data[start:])

    def encode(self) -> bytes:
        return ForwardedHeader(self.session_id, self.cxid, self.type).encode() + self.body


def decode_touches(data: bytes) -> list[SessionTouch]:
    """The data of a learner's PING: the sessions it heard from since the last."""
    if len(data) % TOUCH_BYTES:
        raise ProtocolError(f"{len(data)} bytes of touched sessions")
    return [SessionTouch.read(data, start)[0] for start in range(0, len(data), TOUCH_BYTES)]


def encode_touches(touches: list[SessionTouch]) -> bytes:
    return b"".join([touch.encode() for touch in touches])
