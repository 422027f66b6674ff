"""Varints: numbers in groups of seven bits, lowest first; the high bit says that more follow.

Signed ones are zigzag: 0, -1, 1, -2 become 0, 1, 2, 3. A varint has at most 5 bytes and a
varlong at most 10; what their last byte holds beyond 32 or 64 bits is dropped, as Java drops it.
"""

from __future__ import annotations

from odradek.kafka.wire.octets import Octets
from odradek.runtime.errors import ProtocolError

KEPT = range(-64, 16384)
ONE_OCTET = tuple(bytes((number,)) for number in range(128))


class InvalidVarint(ProtocolError):
    """A varint that is cut off or has too many bytes."""


def read_unsigned_varint(data: Octets, position: int) -> tuple[int, int]:
    """The number at `position`, and the position after it."""
    number, position = _read(data, position, 5)
    return number & 0xFFFF_FFFF, position


def read_unsigned_varlong(data: Octets, position: int) -> tuple[int, int]:
    """The number at `position`, and the position after it."""
    number, position = _read(data, position, 10)
    return number & 0xFFFF_FFFF_FFFF_FFFF, position


def read_varint(data: Octets, position: int) -> tuple[int, int]:
    """The signed number at `position`, and the position after it."""
    number, position = read_unsigned_varint(data, position)
    return number >> 1 ^ -(number & 1), position


def read_varlong(data: Octets, position: int) -> tuple[int, int]:
    """The signed number at `position`, and the position after it."""
    number, position = read_unsigned_varlong(data, position)
    return number >> 1 ^ -(number & 1), position


def unsigned_varint(number: int) -> bytes:
    """The bytes of a number that is not negative."""
    if 0 <= number < 128:
        return ONE_OCTET[number]
    octets = bytearray()
    while number > 127:
        octets.append(number & 127 | 128)
        number >>= 7
    octets.append(number)
    return bytes(octets)


def to_int64(number: int) -> int:
    """The number in 64 bits, wrapped around as Java's arithmetic does."""
    return (number + 2**63 & 2**64 - 1) - 2**63


class Varints(dict[int, bytes]):
    """The bytes of signed numbers, made when first asked for; small ones are kept.

    Looking up is several times faster than encoding, and most numbers in a batch are small.
    """

    def __missing__(self, number: int) -> bytes:
        wrapped = to_int64(number)
        octets = unsigned_varint((wrapped << 1 ^ wrapped >> 63) & 2**64 - 1)
        if number in KEPT:
            self[number] = octets
        return octets


VARINTS = Varints()


def _read(data: Octets, position: int, bytes_max: int) -> tuple[int, int]:
    number = shift = 0
    for octet in data[position : position + bytes_max]:
        position += 1
        if octet < 128:
            return number | octet << shift, position
        number |= (octet & 127) << shift
        shift += 7
    raise InvalidVarint(f"no varint of at most {bytes_max} bytes ends before {position}")
