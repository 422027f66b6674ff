"""Whatever the bytes: a message or a ProtocolError, little memory, little time."""

from __future__ import annotations

import tracemalloc
from contextlib import suppress
from itertools import islice
from random import Random
from time import perf_counter

import pytest

from odradek.kafka.wire.codec import decode
from odradek.kafka.wire.readers import read_varint
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from tests.kafka.wire.hostile import BOMBS, GOLDENS, cases, truncated
from tests.kafka.wire.kinds import Golden


@pytest.mark.parametrize("golden", GOLDENS, ids=lambda g: f"{g.kind.__name__}-{g.version}")
def test_a_message_cut_anywhere_is_refused(golden: Golden) -> None:
    for kind, version, data in truncated(golden):
        with pytest.raises(ProtocolError):
            decode(kind, version, data)


def test_bent_bytes_give_a_message_or_a_protocol_error() -> None:
    refused = 0
    for kind, version, data in islice(cases(seed=1), 20_000):
        try:
            decode(kind, version, data)
        except ProtocolError:
            refused += 1
    assert refused > 5_000


def peak_bytes(kind: type[Message], version: int, data: bytes) -> int:
    tracemalloc.reset_peak()
    before, _ = tracemalloc.get_traced_memory()
    with suppress(ProtocolError):
        decode(kind, version, data)
    return tracemalloc.get_traced_memory()[1] - before


def test_a_lie_about_a_length_costs_little_memory() -> None:
    hostile = list(islice(cases(seed=2), 3_000))
    for kind, version, data in hostile:
        with suppress(ProtocolError):
            decode(kind, version, data)  # What is compiled stays, and is not the message's.
    tracemalloc.start()
    try:
        for kind, version, data in hostile:
            assert peak_bytes(kind, version, data) < 64 * len(data) + 20_000, (kind, version, data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind_and_version", [(g.kind, g.version) for g in GOLDENS[::5]])
def test_a_large_frame_is_read_in_one_pass(kind_and_version: tuple[type[Message], int]) -> None:
    kind, version = kind_and_version
    filler = Random(3).randbytes(100_000)
    start = perf_counter()
    for data in (filler, bytes(100_000), b"\x01" * 100_000, b"\x7f" * 100_000):
        with suppress(ProtocolError):
            decode(kind, version, data)
    assert perf_counter() - start < 2  # One pass takes some 50 ms, a quadratic one minutes.


@pytest.mark.parametrize("bomb", [b"\xff" * 9 + b"\x01", b"\xff\xff\xff\xff\x7f"])
def test_a_varint_longer_than_its_type_is_refused(bomb: bytes) -> None:
    assert bomb in BOMBS
    with pytest.raises(ProtocolError, match="varint"):
        read_varint(bomb, 0)
