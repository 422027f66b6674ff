"""Numbers in groups of seven bits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire.varint import (
    KEPT,
    VARINTS,
    InvalidVarint,
    read_unsigned_varint,
    read_unsigned_varlong,
    read_varint,
    read_varlong,
    to_int64,
    unsigned_varint,
)

ZIGZAG = [(0, "00"), (-1, "01"), (1, "02"), (-64, "7f"), (64, "8001"), (8191, "fe7f")]


@pytest.mark.parametrize(("number", "octets"), ZIGZAG)
def test_signed_numbers_alternate(number: int, octets: str) -> None:
    assert VARINTS[number].hex() == octets
    assert read_varint(bytes.fromhex(octets), 0) == (number, len(octets) // 2)


@given(st.integers(-(2**31), 2**31 - 1))
def test_a_varint_has_at_most_five_bytes(number: int) -> None:
    octets = VARINTS[number]
    assert len(octets) <= 5
    assert read_varint(b"before" + octets, 6) == (number, 6 + len(octets))


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_varlong_has_at_most_ten_bytes(number: int) -> None:
    octets = VARINTS[number]
    assert len(octets) <= 10
    assert read_varlong(memoryview(octets + b"after"), 0) == (number, len(octets))


@given(st.integers(0, 2**32 - 1))
def test_unsigned_numbers_are_read_as_written(number: int) -> None:
    octets = unsigned_varint(number)
    assert read_unsigned_varint(octets, 0) == (number, len(octets))


@pytest.mark.parametrize("octets", ["", "80", "ffffffff", "ffffffffff01", "808080808000"])
def test_a_varint_that_does_not_end_in_five_bytes_is_refused(octets: str) -> None:
    with pytest.raises(InvalidVarint):
        read_unsigned_varint(bytes.fromhex(octets), 0)


def test_a_varlong_that_does_not_end_in_ten_bytes_is_refused() -> None:
    with pytest.raises(InvalidVarint):
        read_unsigned_varlong(b"\x80" * 10 + b"\x00", 0)


def test_bits_beyond_the_type_are_dropped_as_java_drops_them() -> None:
    assert read_unsigned_varint(bytes.fromhex("ffffffff7f"), 0) == (2**32 - 1, 5)
    assert read_unsigned_varint(bytes.fromhex("ffffffff10"), 0) == (268435455, 5)
    assert read_varlong(b"\xff" * 9 + b"\x7f", 0) == (-(2**63), 10)
    assert read_varlong(b"\xff" * 9 + b"\x02", 0) == (-(2**62), 10)


def test_numbers_wrap_around_at_64_bits() -> None:
    assert to_int64(2**63) == -(2**63)
    assert to_int64(-(2**63) - 1) == 2**63 - 1
    assert VARINTS[2**64 - 1] == VARINTS[-1]


def test_only_small_numbers_are_kept() -> None:
    assert VARINTS[2**40]
    assert set(VARINTS) <= set(KEPT)


def test_a_negative_number_is_not_taken_for_another() -> None:
    with pytest.raises(ValueError, match="byte must be in range"):
        unsigned_varint(-1)
