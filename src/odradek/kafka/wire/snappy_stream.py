"""Snappy as Kafka carries it: the xerial stream, a header and blocks of 32 KiB of input.

Java writes nothing else, and reads one raw block without a header too, as librdkafka writes it.
"""

from __future__ import annotations

from struct import Struct

import cramjam

from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord
from odradek.kafka.wire.octets import Octets

MAGIC = b"\x82SNAPPY\x00"
HEADER = MAGIC + b"\x00\x00\x00\x01" * 2  # Version 1, readable since version 1.
BLOCK_BYTES = 32 * 1024
_SIZE = Struct(">i")


def compress(data: Octets, _: int | None = None) -> bytes:
    """A xerial stream. Snappy knows no levels."""
    parts = [HEADER]
    view = memoryview(data)
    for start in range(0, len(view), BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + BLOCK_BYTES]))
        parts += _SIZE.pack(len(block)), block
    return b"".join(parts)


def decompress(data: Octets, limit: int) -> bytes:
    """What a xerial stream or one raw block holds."""
    view = memoryview(data)
    if view[: len(MAGIC)] != MAGIC:
        return _decompress_block(view, limit)
    if len(view) < len(HEADER):
        raise InvalidRecord("snappy: cut off in the header")
    parts: list[bytes] = []
    position, room = len(HEADER), limit
    while position < len(view):
        block, position = _cut_block(view, position)
        parts.append(_decompress_block(block, room))
        room -= len(parts[-1])
    return b"".join(parts)


def _cut_block(view: memoryview, position: int) -> tuple[memoryview, int]:
    start = position + _SIZE.size
    if start > len(view):
        raise InvalidRecord("snappy: cut off in the size of a block")
    (size,) = _SIZE.unpack_from(view, position)
    if not 0 < size <= len(view) - start:
        raise InvalidRecord(f"snappy: a block of {size} bytes with {len(view) - start} left")
    return view[start : start + size], start + size


def _decompress_block(block: memoryview, room: int) -> bytes:
    try:
        size = cramjam.snappy.decompress_raw_len(block)
        if size > room:
            raise BatchTooLarge(f"snappy: a block of {size} bytes where {room} are left")
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise InvalidRecord(f"snappy: {error}") from error
