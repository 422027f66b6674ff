"""The election port."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.wire.election import (
    FRAME_BYTES_MAX,
    ElectionReader,
    Hello,
    Notification,
    encode_frame,
)
from tests.zookeeper.wire.golden import framed, golden_bytes

LONGS = st.integers(-(2**63), 2**63 - 1)
VOTE = pack(">iqqq", ServerState.FOLLOWING, 3, 0x500000007, 9)
VOTES = st.builds(
    Notification, st.sampled_from(ServerState), LONGS, LONGS, LONGS, LONGS, config=st.text()
)


def test_a_recorded_notification_is_written_again_to_the_same_bytes() -> None:
    data = golden_bytes("election notification")
    notification = Notification.decode(data)
    assert notification
    assert notification.state is ServerState.LOOKING
    assert (notification.leader, notification.election_epoch) == (2, 1)
    assert notification.config.endswith("\nversion=0")
    assert notification.encode() == data


@given(VOTES)
def test_any_notification_survives(notification: Notification) -> None:
    assert Notification.decode(notification.encode()) == notification


def test_the_first_form_takes_its_epoch_from_the_zxid() -> None:
    expected = Notification(ServerState.FOLLOWING, 3, 0x500000007, 9, peer_epoch=5, version=0)
    assert Notification.decode(VOTE) == expected


def test_the_second_form_has_a_version_that_nobody_looks_at() -> None:
    expected = Notification(ServerState.FOLLOWING, 3, 0x500000007, 9, peer_epoch=6, version=0)
    assert Notification.decode(VOTE + pack(">qi", 6, 1)) == expected
    assert Notification.decode(VOTE + pack(">qi", 6, 2)) == expected


def test_version_one_has_no_configuration() -> None:
    expected = Notification(ServerState.FOLLOWING, 3, 0x500000007, 9, peer_epoch=6, version=1)
    assert Notification.decode(VOTE + pack(">qii", 6, 1, 77)) == expected


@pytest.mark.parametrize("size", range(28))
def test_what_is_too_short_for_a_vote_is_ignored(size: int) -> None:
    assert Notification.decode(bytes(size)) is None
    if size:
        assert ElectionReader(expects_hello=False).feed(framed(bytes(size))) == []


@pytest.mark.parametrize(
    "data",
    [
        pack(">iqqq", 4, 1, 1, 1),  # There is no state 4.
        VOTE + bytes(5),
        VOTE + bytes(11),
        VOTE + pack(">qi", 6, 2) + b"\0",
        VOTE + pack(">qii", 6, 2, -1),
        VOTE + pack(">qii", 6, 2, 2) + b"x",
        VOTE + pack(">qii", 6, 2, 1) + b"\xff",
    ],
)
def test_a_notification_that_breaks_off_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        Notification.decode(data)


@pytest.mark.parametrize("addresses", [("a:3888",), ("a:3888", "[::1]:3888")])
@pytest.mark.parametrize("cut", [1, 10, 1000])
def test_a_stream_is_a_hello_and_then_votes(addresses: tuple[str, ...], cut: int) -> None:
    hello = Hello(2, addresses)
    vote = Notification(ServerState.LOOKING, 2, 0, 1, 0, config="version=0")
    stream = hello.encode() + encode_frame(vote) + encode_frame(vote)
    reader = ElectionReader(expects_hello=True)
    pieces = [stream[start : start + cut] for start in range(0, len(stream), cut)]
    assert [said for piece in pieces for said in reader.feed(piece)] == [hello, vote, vote]


def test_the_version_says_how_many_addresses_there_are() -> None:
    assert Hello(2, ("a:3888",)).encode() == pack(">qqi", -65536, 2, 6) + b"a:3888"
    assert Hello(2, ("a:1", "b:2")).encode() == pack(">qqi", -65535, 2, 7) + b"a:1|b:2"


def test_a_very_old_server_says_its_id_alone() -> None:
    reader = ElectionReader(expects_hello=True)
    assert reader.feed(pack(">q", 5) + framed(VOTE))[0] == Hello(5, ())


@pytest.mark.parametrize(
    "data",
    [
        pack(">q", -1),
        pack(">q", -65534),
        pack(">qqi", -65536, 1, 0),
        pack(">qqi", -65536, 1, -1),
        pack(">qqi", -65536, 1, 2049),
        pack(">qqi", -65536, 1, 2) + b"\xff\xff",
    ],
)
def test_a_hello_that_makes_no_sense_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        ElectionReader(expects_hello=True).feed(data)


@pytest.mark.parametrize("size", [0, -1, FRAME_BYTES_MAX + 1])
def test_a_frame_has_at_least_one_byte_and_at_most_half_a_mebibyte(size: int) -> None:
    with pytest.raises(ProtocolError):
        ElectionReader(expects_hello=False).feed(pack(">i", size))
