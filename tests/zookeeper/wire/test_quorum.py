"""Packets between a leader and its learners."""

from __future__ import annotations

from struct import pack
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import Op, PacketType
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.quorum import (
    EpochAck,
    LeaderInfo,
    LearnerInfo,
    QuorumPacket,
    SessionTouch,
    SessionVerdict,
)
from odradek.zookeeper.wire.quorum import (
    DATA_BYTES_MAX,
    PROTOCOL_VERSION,
    ForwardedRequest,
    PacketReader,
    decode_touches,
    encode_packets,
    encode_touches,
)
from odradek.zookeeper.wire.requests import decode_body
from tests.zookeeper.wire.values import any_record

COMMIT = QuorumPacket(PacketType.COMMIT, 0x100000001, None, None)
SNAP = QuorumPacket(PacketType.SNAP, 0x100000001, None, None)

AUTHINFOS: list[list[Id] | None] = [
    None,
    [],
    [Id("ip", "127.0.0.1")],
    [Id("ip", "127.0.0.2")],
    [Id("ip", "10.0.0.1"), Id("digest", "bob:x")],
    [Id("", None)],
    [Id("x" * 300, "y")],
    *([Id("ip", "z" * count)] for count in range(6)),
]


def pieces(stream: bytes, cut: int) -> list[bytes]:
    return [stream[start : start + cut] for start in range(0, len(stream), cut)]


@given(st.lists(any_record(QuorumPacket), max_size=8), st.integers(1, 60))
def test_packets_come_whole_however_the_stream_is_cut(
    packets: list[QuorumPacket], cut: int
) -> None:
    packets = [packet for packet in packets if packet.type != PacketType.SNAP]
    stream = b"".join(packet.encode() for packet in packets)
    reader = PacketReader()
    assert [packet for piece in pieces(stream, cut) for packet in reader.feed(piece)] == packets
    assert PacketReader().feed(stream) == packets


@given(
    st.lists(st.tuples(st.sampled_from(AUTHINFOS), st.binary(max_size=9)), max_size=30),
    st.integers(1, 400),
)
def test_who_asks_again_and_again_is_read_the_same(
    asked: list[tuple[list[Id] | None, bytes]], cut: int
) -> None:
    packets = [QuorumPacket(PacketType.REQUEST, -1, data, authinfo) for authinfo, data in asked]
    stream, reader = encode_packets(packets), PacketReader()
    assert stream == b"".join(packet.encode() for packet in packets)
    assert [packet for piece in pieces(stream, cut) for packet in reader.feed(piece)] == packets


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_snapshot_passes_through_as_it_is(cut: int) -> None:
    snapshot = b"\xff" * 100 + b"BenWasHere"
    reader = PacketReader()
    packets: list[QuorumPacket] = []
    raw = b""
    for piece in pieces(COMMIT.encode() + SNAP.encode() + snapshot + COMMIT.encode(), cut):
        packets += reader.feed(piece)
        raw += reader.take_raw() if reader.is_raw else b""
        if raw[: len(snapshot)] == snapshot:
            packets += reader.resume(raw[len(snapshot) :])
            raw = b""
    assert packets == [COMMIT, SNAP, COMMIT]


@pytest.mark.parametrize("size", [-2, -(2**31), DATA_BYTES_MAX + 1, 2**31 - 1])
def test_a_length_beyond_the_limit_is_refused_before_its_bytes_come(size: int) -> None:
    with pytest.raises(ProtocolError, match="the limit is"):
        PacketReader().feed(pack(">iqi", 2, 0, size))
    with pytest.raises(ProtocolError, match="the limit is"):
        PacketReader().feed(pack(">iqii", 2, 0, -1, size))
    with pytest.raises(ProtocolError, match="the limit is"):
        PacketReader().feed(pack(">iqiii", 2, 0, -1, 1, size))


def test_authinfo_as_a_whole_has_a_limit() -> None:
    packet = QuorumPacket(PacketType.REQUEST, -1, None, [Id("x" * 60, None), Id("x" * 60, None)])
    assert PacketReader(200).feed(packet.encode()) == [packet]
    with pytest.raises(ProtocolError, match="authinfo of more than 100 bytes"):
        PacketReader(100).feed(packet.encode())


def test_the_limit_of_authinfo_is_the_same_behind_other_packets() -> None:
    packet = QuorumPacket(PacketType.REQUEST, -1, None, [Id("x" * 60, None), Id("x" * 60, None)])
    reader = PacketReader(100)
    assert reader.feed(COMMIT.encode() * 10 + packet.encode()[:90]) == [COMMIT] * 10
    with pytest.raises(ProtocolError, match="authinfo of more than 100 bytes"):
        reader.feed(packet.encode()[90:])


def test_a_packet_that_drips_in_is_looked_at_once() -> None:
    packet = QuorumPacket(PacketType.REQUEST, -1, b"x" * 50_000, [Id("", "")] * 5_000)
    reader = PacketReader()
    start = perf_counter()
    seen = [found for piece in pieces(packet.encode(), 1) for found in reader.feed(piece)]
    assert seen == [packet]
    assert perf_counter() - start < 5  # It takes some 100 ms; looking at all again, minutes.


def test_a_learner_says_who_it_is_in_twenty_bytes() -> None:
    assert LearnerInfo(3, PROTOCOL_VERSION, 0).encode() == pack(">qiq", 3, 0x10000, 0)
    assert LeaderInfo(PROTOCOL_VERSION).encode() == pack(">i", 0x10000)
    assert EpochAck(-1).encode() == b"\xff\xff\xff\xff"


def test_a_session_is_validated_by_its_id() -> None:
    assert SessionTouch(7, 10_000).encode() == pack(">qi", 7, 10_000)
    assert SessionVerdict(7, is_valid=True).encode() == pack(">q?", 7, True)


@given(st.lists(any_record(SessionTouch), max_size=5))
def test_a_ping_carries_all_touched_sessions(touches: list[SessionTouch]) -> None:
    assert decode_touches(encode_touches(touches)) == touches


@pytest.mark.parametrize("size", [1, 11, 13])
def test_half_a_touched_session_is_refused(size: int) -> None:
    with pytest.raises(ProtocolError):
        decode_touches(bytes(size))


@given(st.binary(max_size=20))
def test_a_forwarded_request_keeps_its_body(body: bytes) -> None:
    request = ForwardedRequest(7, 3, Op.SYNC, body)
    assert ForwardedRequest.decode(request.encode()) == request


def test_a_new_session_is_forwarded_as_its_time_out() -> None:
    record = decode_body(Op.CREATE_SESSION, pack(">i", 10_000))
    assert record is not None and record.encode() == pack(">i", 10_000)
    assert decode_body(Op.CLOSE_SESSION, b"") is None
    with pytest.raises(ProtocolError, match="type 99"):
        decode_body(99, b"")
