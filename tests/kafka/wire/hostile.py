"""Bytes that nobody should send: golden ones, cut, bent, mixed up and lied about."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from struct import pack

from odradek.kafka.wire.schema import Message
from tests.kafka.wire.kinds import Golden, goldens

GOLDENS = list(goldens())
BOMBS = [
    pack(">i", 2**31 - 1),  # An array, or bytes, of two thousand million.
    pack(">h", 2**15 - 1),  # A string longer than the frame.
    pack(">i", -2),
    pack(">h", -(2**15)),
    b"\xff" * 9 + b"\x01",  # A varint of ten bytes.
    b"\xff\xff\xff\xff\x07",  # The largest varint.
    b"\xff\xff\xff\xff\x7f",  # A varint of 35 bits.
    b"\x80\x80\x80\x80\x00",  # A zero of five bytes.
]
Case = tuple[type[Message], int, bytes]


def truncated(golden: Golden) -> Iterator[Case]:
    """Cut at each byte: there is always something missing."""
    for end in range(len(golden.data)):
        yield golden.kind, golden.version, golden.data[:end]


def bent(golden: Golden, random: Random) -> bytes:
    """Change it in one of many ways."""
    data = bytearray(golden.data)
    at = random.randrange(len(data) + 1)
    match random.randrange(6):
        case 0:  # Other bytes in a few places.
            for _ in range(random.randint(1, 4)):
                if data:
                    data[random.randrange(len(data))] = random.randrange(256)
        case 1:  # A length or count that lies, in place of what was there.
            bomb = random.choice(BOMBS)
            data[at : at + len(bomb)] = bomb
        case 2:  # The same, pushed in between.
            data[at:at] = random.choice(BOMBS)
        case 3:  # Bytes missing in the middle.
            del data[at : at + random.randint(1, 8)]
        case 4:  # Another message from here on.
            data[at:] = random.choice(GOLDENS).data
        case 5:  # Nothing that means anything.
            data[:] = random.randbytes(random.randrange(300))
    return bytes(data)


def cases(seed: int) -> Iterator[Case]:
    """Hostile bytes without end, the same for the same seed."""
    random = Random(seed)
    while True:
        golden = random.choice(GOLDENS)
        yield golden.kind, golden.version, bent(golden, random)
