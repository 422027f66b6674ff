"""A stream cut at its lengths."""

from __future__ import annotations

from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.frames import LARGE_START_BYTES, SCRATCH_BYTES, FrameReader, FrameTooLarge


def framed(*payloads: bytes) -> bytes:
    return b"".join(pack(">i", len(payload)) + payload for payload in payloads)


def pour(reader: FrameReader, stream: bytes, read_bytes_max: int) -> list[bytes]:
    """Bring a stream in through the reader's own buffer, as a BufferedProtocol would."""
    frames: list[bytes] = []
    while stream:
        room = reader.get_buffer()
        count = min(len(room), len(stream), read_bytes_max)
        room[:count] = stream[:count]
        stream = stream[count:]
        frames += map(bytes, reader.received(count))
    return frames


@given(st.lists(st.binary(max_size=200)), st.integers(1, 64))
def test_frames_come_whole_however_the_stream_is_cut(payloads: list[bytes], cut: int) -> None:
    stream = framed(*payloads)
    reader = FrameReader(1000, bytearray(64))
    assert pour(reader, stream, cut) == payloads
    assert reader.is_between_frames

    fed = FrameReader(1000, bytearray(64))
    pieces = [stream[i : i + cut] for i in range(0, len(stream), cut)]
    assert [bytes(frame) for piece in pieces for frame in fed.feed(piece)] == payloads


@pytest.mark.parametrize("size", [SCRATCH_BYTES - 4, SCRATCH_BYTES, 3 * LARGE_START_BYTES + 1])
def test_a_large_frame_is_followed_by_the_next_one(size: int) -> None:
    payloads = [bytes(range(256)) * (size // 256) + b"x" * (size % 256), b"next"]
    assert pour(FrameReader(1 << 24), framed(*payloads), 100_000) == payloads
    fed = FrameReader(1 << 24).feed(framed(*payloads))
    assert [bytes(frame) for frame in fed] == payloads


@pytest.mark.parametrize("size", [-1, -(2**31), 101, 2**31 - 1])
def test_a_length_beyond_the_limit_is_refused_before_its_bytes_come(size: int) -> None:
    with pytest.raises(FrameTooLarge, match="the limit is 100"):
        FrameReader(100).feed(pack(">i", size))


def test_an_announced_length_alone_holds_little_memory() -> None:
    reader = FrameReader(2**31 - 1)
    assert reader.feed(pack(">i", 2**31 - 1)) == []
    assert len(reader.get_buffer()) == LARGE_START_BYTES


def test_readers_may_share_their_scratch() -> None:
    scratch = bytearray(64)
    left, right = FrameReader(50, scratch), FrameReader(50, scratch)
    stream = framed(b"hello", b"world")
    seen: dict[int, list[bytes]] = {0: [], 1: []}
    for byte in stream:
        for name, reader in enumerate((left, right)):
            reader.get_buffer()[0] = byte
            seen[name] += map(bytes, reader.received(1))
    assert seen == {0: [b"hello", b"world"], 1: [b"hello", b"world"]}


@pytest.mark.parametrize("lent_bytes", [1 << 20, 2 << 20])
def test_large_frames_lie_where_there_is_lent_room(lent_bytes: int) -> None:
    room, asked = memoryview(bytearray(lent_bytes)), list[int]()

    def lend(size: int) -> memoryview:
        asked.append(size)
        return room

    reader = FrameReader(1 << 24)
    reader.lender = lend
    large = bytes(range(256)) * 4096
    assert pour(reader, framed(b"small", large, b"next"), 100_000) == [b"small", large, b"next"]
    assert asked == [len(large)]
    assert bytes(room[: len(large)]) == large


def test_a_lender_may_have_no_room() -> None:
    reader = FrameReader(1 << 24)
    reader.lender = lambda size: None
    payloads = [b"x" * (3 * LARGE_START_BYTES), b"next"]
    assert pour(reader, framed(*payloads), 100_000) == payloads
