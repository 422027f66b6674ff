"""Both ends of a client's connection, bytes in and values out."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import FrameTooLarge
from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.connection import (
    JUTE_MAXBUFFER,
    XID_MAX,
    ClientConnection,
    FromClient,
    ServerConnection,
)
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.requests import GetDataRequest, SetDataRequest, SetWatches
from odradek.zookeeper.wire.messages.responses import CreateResponse, SyncResponse, WatcherEvent
from odradek.zookeeper.wire.messages.session import AuthPacket, ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.replies import (
    Notification,
    Reply,
    encode_notification,
    encode_reply,
)
from odradek.zookeeper.wire.requests import Request, encode_request
from odradek.zookeeper.wire.words import FourLetterWord
from tests.zookeeper.wire.golden import exchange, framed

CONNECT = ConnectRequest(0, 0, 10_000, 0, bytes(16), read_only=False)
CONNECTED = ConnectResponse(0, 10_000, 7, bytes(16), read_only=False)
GET = GetDataRequest("/a", watch=True)


def open_server() -> ServerConnection:
    server = ServerConnection()
    assert server.feed(framed(CONNECT.encode())) == [CONNECT]
    return server


def open_client() -> ClientConnection:
    client = ClientConnection()
    client.connect(CONNECT)
    assert client.feed(framed(CONNECTED.encode())) == [CONNECTED]
    return client


def pour(server: ServerConnection, stream: bytes, cut: int) -> list[FromClient]:
    """Bring a stream in through the connection's own buffer."""
    seen: list[FromClient] = []
    for start in range(0, len(stream), cut):
        piece = stream[start : start + cut]
        server.get_buffer()[: len(piece)] = piece
        seen += server.received(len(piece))
    return seen


@given(st.integers(1, 100))
def test_requests_come_whole_however_the_stream_is_cut(cut: int) -> None:
    frames = [line.request for line in exchange() if line.connection == "A" and line.request]
    whole = ServerConnection().feed(b"".join(map(framed, frames)))
    assert isinstance(whole[0], ConnectRequest)
    assert len(whole) == len(frames)
    assert pour(ServerConnection(), b"".join(map(framed, frames)), cut) == whole


def test_a_request_keeps_the_bytes_it_came_in() -> None:
    frame = encode_request(3, Op.GET_DATA, GET)
    (request,) = open_server().feed(frame)
    assert request == Request(3, Op.GET_DATA, GET, frame[4:])
    assert isinstance(request, Request)
    assert request.body == GET.encode()


def test_a_large_request_is_read_like_a_small_one() -> None:
    data = bytes(range(256)) * 1000
    record = SetDataRequest("/a", data, -1)
    (request,) = open_server().feed(encode_request(1, Op.SET_DATA, record))
    assert isinstance(request, Request)
    assert request.record == record


def test_what_follows_a_request_in_its_frame_is_ignored() -> None:
    frame = encode_request(3, Op.GET_DATA, GET)[4:] + b"of a later version"
    (request,) = open_server().feed(framed(frame))
    assert isinstance(request, Request)
    assert request.record == GET


@pytest.mark.parametrize("op", [999, -999, 10, Op.CREATE_SESSION, Op.DELETE_CONTAINER, Op.ERROR])
def test_an_operation_that_is_not_for_clients_is_told_without_a_record(op: int) -> None:
    frame = encode_request(5, op, GET)
    assert open_server().feed(frame) == [Request(5, op, None, frame[4:])]


@pytest.mark.parametrize("frame", [b"", b"\0", bytes(7)])
def test_a_frame_without_a_whole_header_is_refused(frame: bytes) -> None:
    with pytest.raises(ProtocolError):
        open_server().feed(framed(frame))


def test_the_answer_says_read_only_to_a_client_that_did() -> None:
    old = ConnectRequest(0, 0, 10_000, 0, bytes(16), read_only=None)
    server = ServerConnection()
    assert server.feed(framed(old.encode())) == [old]
    assert len(server.answer_connect(CONNECTED)) == 4 + 36
    assert len(open_server().answer_connect(CONNECTED)) == 4 + 37


@pytest.mark.parametrize("size", [-1, JUTE_MAXBUFFER + 1, 2**31 - 1])
def test_a_frame_beyond_jute_maxbuffer_is_refused_before_it_comes(size: int) -> None:
    with pytest.raises(FrameTooLarge):
        ServerConnection().feed(pack(">i", size))
    with pytest.raises(FrameTooLarge):
        open_server().feed(pack(">i", size))
    with pytest.raises(FrameTooLarge):
        open_client().feed(pack(">i", size))


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5])
def test_a_four_letter_word_is_heard_instead_of_a_frame(cut: int) -> None:
    assert pour(ServerConnection(), b"ruok", cut) == [FourLetterWord("ruok", b"")]
    assert pour(ServerConnection(), b"srvr\r\n", cut) == [FourLetterWord("srvr", b"")]
    assert pour(ServerConnection(), b"stmk" + bytes(8), cut) == [FourLetterWord("stmk", bytes(8))]


def test_a_word_that_is_not_known_is_a_length_beyond_the_limit() -> None:
    with pytest.raises(FrameTooLarge):
        ServerConnection().feed(b"what")


def test_a_word_is_a_word_only_at_the_start() -> None:
    with pytest.raises(FrameTooLarge):
        open_server().feed(b"ruok")


def test_a_client_counts_its_requests() -> None:
    client = ClientConnection(next_xid=XID_MAX)
    assert client.request(Op.GET_DATA, GET) == (XID_MAX, encode_request(XID_MAX, Op.GET_DATA, GET))
    assert client.request(Op.CLOSE_SESSION) == (1, encode_request(1, Op.CLOSE_SESSION))


def test_replies_are_read_as_their_requests_demand() -> None:
    client = open_client()
    client.request(Op.CREATE)
    client.request(Op.SYNC)
    answers = [CreateResponse("/a0000000001"), SyncResponse("/a")]
    stream = encode_reply(1, 10, answers[0]) + encode_reply(2, 11, answers[1])
    assert client.feed(stream) == [Reply(1, 10, 0, answers[0]), Reply(2, 11, 0, answers[1])]


def test_an_error_has_no_body() -> None:
    client = open_client()
    client.request(Op.GET_DATA, GET)
    (reply,) = client.feed(encode_reply(1, 10, None, Error.NO_NODE))
    assert reply == Reply(1, 10, Error.NO_NODE, None)


def test_a_multi_that_failed_as_a_whole_has_no_body_either() -> None:
    client = open_client()
    client.request(Op.MULTI)
    (reply,) = client.feed(encode_reply(1, 10, None, Error.SESSION_MOVED))
    assert reply == Reply(1, 10, Error.SESSION_MOVED, None)


@pytest.mark.parametrize("xid", [0, 2, 3, -2, -4, -8, -3])
def test_a_reply_out_of_turn_is_refused(xid: int) -> None:
    client = open_client()
    client.request(Op.SYNC)
    client.request(Op.SYNC)
    with pytest.raises(ProtocolError, match=f"xid {xid};"):
        client.feed(encode_reply(xid, 10, SyncResponse("/a")))


def test_pings_authentication_and_watches_may_overtake_requests() -> None:
    client = open_client()
    client.request(Op.SYNC)
    client.ping()
    client.authenticate(AuthPacket(0, "digest", b"u:p"))
    client.set_watches(SetWatches(0, [], [], []))
    for xid in (Xid.SET_WATCHES, Xid.AUTH, Xid.PING):
        assert client.feed(encode_reply(xid, 9, None)) == [Reply(xid, 9, 0, None)]
        with pytest.raises(ProtocolError):
            client.feed(encode_reply(xid, 9, None))


def test_a_notification_may_come_at_any_time() -> None:
    client = open_client()
    client.request(Op.SYNC)
    event = WatcherEvent(3, 3, "/a")
    assert client.feed(encode_notification(9, event)) == [Notification(9, event)]


def test_a_client_reads_through_its_own_buffer_too() -> None:
    client = open_client()
    client.request(Op.SYNC)
    frame = encode_reply(1, 10, SyncResponse("/a"))
    client.get_buffer()[: len(frame)] = frame
    assert client.received(len(frame)) == [Reply(1, 10, 0, SyncResponse("/a"))]
