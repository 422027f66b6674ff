"""One client's connection, seen from either end. No socket: bytes in, typed values out.

    server                            client
    ConnectRequest       ◄──────────  connect
    answer_connect       ──────────►  ConnectResponse
    Request              ◄──────────  request, ping, authenticate, set_watches
    encode_reply         ──────────►  Reply
    encode_notification  ──────────►  Notification

Bytes come in either through `get_buffer` and `received`, as from an `asyncio.BufferedProtocol`,
or through `feed`. What breaks the protocol raises `ProtocolError`; the connection is then of no
further use.
"""

from __future__ import annotations

from collections import deque

from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import LENGTH, Frame, FrameReader
from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2
from odradek.zookeeper.wire.messages.responses import WatcherEvent
from odradek.zookeeper.wire.messages.session import (
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    ReplyHeader,
)
from odradek.zookeeper.wire.operations import Body
from odradek.zookeeper.wire.replies import HEADER_BYTES, Notification, Reply, decode_reply
from odradek.zookeeper.wire.requests import (
    Request,
    Unreadable,
    decode_if_readable,
    encode_request,
    reader_of,
    readers,
)
from odradek.zookeeper.wire.words import WORD_BYTES, FourLetterWord, find_word, is_word

JUTE_MAXBUFFER = 0xFFFFF
XID_MAX = 2**31 - 1

FromClient = Request | Unreadable | ConnectRequest | FourLetterWord
FromServer = Reply | Notification | ConnectResponse


class ServerConnection:
    """The server's end: first a word or a ConnectRequest, then requests."""

    __slots__ = ("_first", "_frames", "_has_read_only", "_is_open", "_is_over")

    def __init__(
        self, frame_bytes_max: int = JUTE_MAXBUFFER, scratch: bytearray | None = None
    ) -> None:
        self._frames = FrameReader(frame_bytes_max, scratch)
        self._first: bytes | None = b""  # What came before it was clear that it is no word.
        self._is_open = False
        self._is_over = False
        self._has_read_only = False

    def get_buffer(self) -> memoryview:
        """Where the next bytes of the stream belong."""
        return self._frames.get_buffer()

    def received(self, count: int) -> list[FromClient]:
        """Take `count` bytes that were put into the buffer; return what they complete."""
        if self._is_open:
            return _decode_requests(self._frames.received(count))
        return self._begin(bytes(self._frames.get_buffer()[:count]))

    def feed(self, data: bytes) -> list[FromClient]:
        """Take bytes that came in a buffer of their own; return what they complete."""
        if self._is_open:
            return _decode_requests(self._frames.feed(data))
        return self._begin(data)

    def answer_connect(self, response: ConnectResponse) -> bytes:
        """One frame, which says `read_only` only to a client that did."""
        answer = ConnectResponse(
            response.protocol_version,
            response.time_out,
            response.session_id,
            response.passwd,
            bool(response.read_only) if self._has_read_only else None,
        )
        return _framed(answer.encode())

    def _begin(self, data: bytes) -> list[FromClient]:
        if self._is_over:
            return []  # After a word the stream means nothing: a newline, for example.
        if self._first is not None:
            data = self._first + data
            if len(data) < WORD_BYTES or is_word(data):
                return self._hear_word(data)
            self._first = None
        frames = self._frames.feed(data)
        if not frames:
            return []
        request = ConnectRequest.decode(frames[0])
        self._has_read_only = request.read_only is not None
        self._is_open = True
        return [request, *_decode_requests(frames[1:])]

    def _hear_word(self, data: bytes) -> list[FromClient]:
        word = find_word(data)
        self._is_over = word is not None
        self._first = data
        return [word] if word else []


class ClientConnection:
    """The client's end. Replies come in the order of the requests, or it is broken.

    Pings, authentication and watches set anew are not counted: their replies carry xids of their
    own and may overtake others. A session goes on counting when it moves to another connection,
    hence `next_xid`.
    """

    __slots__ = ("_frames", "_is_open", "_out_of_turn", "_pending", "next_xid")

    def __init__(self, frame_bytes_max: int = JUTE_MAXBUFFER, next_xid: int = 1) -> None:
        self.next_xid = next_xid
        self._frames = FrameReader(frame_bytes_max)
        self._is_open = False
        self._pending: deque[tuple[int, int]] = deque()  # Xid and type, oldest first.
        self._out_of_turn: dict[int, int] = {Xid.PING: 0, Xid.AUTH: 0, Xid.SET_WATCHES: 0}

    def connect(self, request: ConnectRequest) -> bytes:
        """The first frame."""
        return _framed(request.encode())

    def request(self, op: Op, record: Body | None = None) -> tuple[int, bytes]:
        """The xid that the reply will carry, and the frame to send."""
        xid = self.next_xid
        frame = encode_request(xid, op, record)  # Raises before anything is counted.
        self.next_xid = xid + 1 if xid < XID_MAX else 1
        self._pending.append((xid, op))
        return xid, frame

    def ping(self) -> bytes:
        return self._request_out_of_turn(Xid.PING, Op.PING, None)

    def authenticate(self, packet: AuthPacket) -> bytes:
        return self._request_out_of_turn(Xid.AUTH, Op.AUTH, packet)

    def set_watches(self, watches: SetWatches | SetWatches2) -> bytes:
        op = Op.SET_WATCHES if isinstance(watches, SetWatches) else Op.SET_WATCHES2
        return self._request_out_of_turn(Xid.SET_WATCHES, op, watches)

    def get_buffer(self) -> memoryview:
        """Where the next bytes of the stream belong."""
        return self._frames.get_buffer()

    def received(self, count: int) -> list[FromServer]:
        """Take `count` bytes that were put into the buffer; return what they complete."""
        return [self._read(frame) for frame in self._frames.received(count)]

    def feed(self, data: bytes) -> list[FromServer]:
        """Take bytes that came in a buffer of their own; return what they complete."""
        return [self._read(frame) for frame in self._frames.feed(data)]

    def _request_out_of_turn(self, xid: Xid, op: Op, record: Body | None) -> bytes:
        self._out_of_turn[xid] += 1
        return encode_request(xid, op, record)

    def _read(self, frame: Frame) -> FromServer:
        frame = bytes(frame)
        if not self._is_open:
            self._is_open = True
            return ConnectResponse.decode(frame)
        header, _ = ReplyHeader.read(frame)
        if header.xid == Xid.NOTIFICATION:
            return Notification(header.zxid, WatcherEvent.read(frame, HEADER_BYTES)[0])
        return decode_reply(self._take_pending(header.xid), header, frame)

    def _take_pending(self, xid: int) -> int:
        """The type of the request that this reply answers."""
        if self._out_of_turn.get(xid):
            self._out_of_turn[xid] -= 1
            return Op.PING  # Like a ping's, none of these replies has a body.
        if not self._pending or self._pending[0][0] != xid:
            raise ProtocolError(f"a reply to xid {xid}; pending are {list(self._pending)[:3]}")
        return self._pending.popleft()[1]


def _decode_requests(frames: list[Frame]) -> list[FromClient]:
    requests: list[FromClient] = []
    try:
        for frame in frames:
            # A large frame is a view of a buffer of its own. `type() is` is the fastest way to ask.
            whole = frame if type(frame) is bytes else bytes(frame)
            read = readers.get(whole[4:8]) or reader_of(whole)
            requests.append(read(whole))
    except ProtocolError:
        return [decode_if_readable(bytes(frame)) for frame in frames]
    return requests


def _framed(body: bytes) -> bytes:
    return LENGTH.pack(len(body)) + body
