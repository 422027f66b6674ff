"""Whatever the bytes: a value or a ProtocolError, little memory, little time."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from itertools import islice
from random import Random
from struct import pack
from time import perf_counter

import pytest

from odradek.runtime.errors import ProtocolError
from odradek.runtime.frames import LARGE_START_BYTES, SCRATCH_BYTES
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.connection import JUTE_MAXBUFFER
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.requests import CreateRequest, SetWatches
from odradek.zookeeper.wire.messages.responses import GetChildrenResponse
from tests.zookeeper.wire.golden import framed
from tests.zookeeper.wire.hostile import (
    Reader,
    all_good,
    cases,
    has_frames,
    hear_first,
    hear_reply,
    hear_request,
    truncated,
)
from tests.zookeeper.wire.values import RECORDS


def test_what_is_to_be_spoilt_is_good() -> None:
    for reader, data in all_good():
        assert reader(data) is not None


def test_a_record_cut_anywhere_is_refused() -> None:
    for reader, data in truncated():
        with pytest.raises(ProtocolError):
            reader(data)


def test_bent_bytes_give_a_value_or_a_protocol_error() -> None:
    refused = 0
    for reader, data in islice(cases(seed=1), 20_000):
        try:
            reader(data)
        except ProtocolError:
            refused += 1
    assert refused > 5_000


def peak_bytes(reader: Reader, data: bytes) -> int:
    """How much memory it takes to read this, beyond what is there."""
    tracemalloc.start()
    try:
        with suppress(ProtocolError):
            reader(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_lie_about_a_length_costs_little_memory() -> None:
    for reader, data in islice(cases(seed=2), 2_000):
        with suppress(ProtocolError):
            reader(data)  # What is compiled stays, and is not the bytes' fault.
        buffers = 2 * SCRATCH_BYTES + LARGE_START_BYTES if has_frames(reader) else 0
        assert peak_bytes(reader, data) < buffers + 64 * len(data) + 20_000, data


BOMB = pack(">i", 2**31 - 1)


@pytest.mark.parametrize(
    ("record_type", "start"),
    [
        (GetChildrenResponse, b""),
        (SetWatches, bytes(8)),
        (CreateRequest, pack(">ii", 0, -1)),
    ],
)
def test_a_vector_of_two_thousand_million_costs_nothing(
    record_type: type[Record], start: bytes
) -> None:
    data = start + BOMB + bytes(1000)
    with pytest.raises(ProtocolError, match="cannot hold 2147483647 items"):
        record_type.decode(data)
    assert peak_bytes(record_type.decode, data) < 20_000


@pytest.mark.parametrize(
    "item", [bytes(4), pack(">i", 2) + "ä".encode(), bytes(12)], ids=["empty", "small", "twelve"]
)
@pytest.mark.parametrize("kind", [CreateRequest, GetChildrenResponse])
def test_the_densest_frame_takes_a_small_multiple_of_its_size(
    kind: type[Record], item: bytes
) -> None:
    body = item * (JUTE_MAXBUFFER // len(item) // 8)
    least = 12 if kind is CreateRequest else 4
    start = pack(">ii", 0, -1) if kind is CreateRequest else b""
    data = start + pack(">i", len(body) // least) + body + bytes(4)
    kind.decode(start + bytes(8))
    assert peak_bytes(kind.decode, data) < 20 * len(data)


@pytest.mark.parametrize("record_type", RECORDS, ids=lambda kind: kind.__name__)
def test_a_large_frame_is_read_in_one_pass(record_type: type[Record]) -> None:
    filler = Random(3).randbytes(100_000)
    start = perf_counter()
    for data in (filler, bytes(100_000), b"\0\0\0\1" * 25_000, BOMB * 25_000):
        with suppress(ProtocolError):
            record_type.decode(data)
    assert perf_counter() - start < 2  # One pass takes some 10 ms, a quadratic one minutes.


@pytest.mark.parametrize("hear", [hear_first, hear_request, lambda data: hear_reply(Op.SYNC, data)])
def test_many_frames_at_once_are_read_in_one_pass(hear: Reader) -> None:
    start = perf_counter()
    with suppress(ProtocolError):
        hear(framed(bytes(8)) * 20_000)
    assert perf_counter() - start < 2
