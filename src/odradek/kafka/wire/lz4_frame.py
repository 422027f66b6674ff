"""LZ4 frames as Kafka carries them: independent blocks, each sized, and an end mark.

Java refuses frames whose blocks depend on each other, so they are neither written nor read here.
Producers of magic 0 had the header's checksum wrong, and nobody may check it there; being part
of the batch's checksum it is not checked anywhere. Nor are those of blocks and content. What
follows the end mark is left alone, as in Java.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct

import cramjam

from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord
from odradek.kafka.wire.octets import Octets

MAGIC = b"\x04\x22\x4d\x18"
# Version 1, independent blocks of 64 KiB, no checksums; then the checksum of this.
HEADER = MAGIC + b"\x60\x40\x82"
HEADER_MAGIC_0 = MAGIC + b"\x60\x40\x1a"
BLOCK_BYTES = 64 * 1024
BLOCK_BYTES_BY_NUMBER = {4: 64 * 1024, 5: 256 * 1024, 6: 1024 * 1024, 7: 4 * 1024 * 1024}
RATIO_MAX = 255  # One more byte of input makes a match at most this much longer.

_VERSION_AND_INDEPENDENCE = 0xE0
_VERSION_1_INDEPENDENT = 0x60
_BLOCK_CHECKSUM = 0x10
_CONTENT_SIZE = 0x08
_RESERVED = 0x03
_STORED = 0x8000_0000
_SIZE = Struct("<I")


def compress(data: Octets, _: int | None = None) -> bytes:
    """One frame, always of Java's default level. A block that would not shrink is stored."""
    parts = [HEADER]
    view = memoryview(data)
    for start in range(0, len(view), BLOCK_BYTES):
        plain = view[start : start + BLOCK_BYTES]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        if len(block) < len(plain):
            parts += _SIZE.pack(len(block)), block
        else:
            parts += _SIZE.pack(len(plain) | _STORED), bytes(plain)
    parts.append(_SIZE.pack(0))
    return b"".join(parts)


def decompress(data: Octets, limit: int) -> bytes:
    """What one frame holds."""
    plain = bytearray()
    scratch = memoryview(b"")
    for block, is_stored, size_max in _blocks(memoryview(data)):
        if len(scratch) < size_max:
            scratch = memoryview(bytearray(size_max))
        plain += scratch[: _open_block(block, is_stored, scratch[:size_max])]
        if len(plain) > limit:
            raise BatchTooLarge(f"lz4: more than {limit} bytes")
    return bytes(plain)


def decompress_into(data: Octets, limit: int, room_until: Callable[[int], memoryview]) -> int:
    """Put what one frame holds where the caller has room, and say how much it is.

    `room_until(end)` gives that room, as far as `end`; what is in it already stays.
    """
    filled = 0
    for block, is_stored, size_max in _blocks(memoryview(data)):
        end = filled + size_max
        filled += _open_block(block, is_stored, room_until(end)[filled:end])
        if filled > limit:
            raise BatchTooLarge(f"lz4: more than {limit} bytes")
    return filled


def _blocks(view: memoryview) -> Iterator[tuple[memoryview, bool, int]]:
    """Each block, whether it is stored as it was, and how much it can become."""
    flags, block_bytes_max, position = _read_header(view)
    checksum_bytes = 4 if flags & _BLOCK_CHECKSUM else 0
    while size := _read_size(view, position):
        start = position + _SIZE.size
        position = start + (size & ~_STORED)
        if position > len(view) or position - start > block_bytes_max:
            raise InvalidRecord(f"lz4: a block of {position - start} bytes has no place")
        size_max = min(block_bytes_max, RATIO_MAX * (position - start))
        yield view[start:position], size & _STORED != 0, size_max
        position += checksum_bytes


def _read_header(view: memoryview) -> tuple[int, int, int]:
    """The flags, the largest block, and where the first block starts."""
    if len(view) < len(HEADER) or view[: len(MAGIC)] != MAGIC:
        raise InvalidRecord("lz4: not a frame")
    flags, sizes = view[4], view[5]
    if flags & _VERSION_AND_INDEPENDENCE != _VERSION_1_INDEPENDENT or flags & _RESERVED:
        raise InvalidRecord(f"lz4: flags {flags:02x}, not those of independent blocks")
    block_bytes_max = BLOCK_BYTES_BY_NUMBER.get(sizes >> 4)
    if block_bytes_max is None or sizes & 0x0F:
        raise InvalidRecord(f"lz4: no block size is numbered {sizes:02x}")
    return flags, block_bytes_max, len(HEADER) + (8 if flags & _CONTENT_SIZE else 0)


def _read_size(view: memoryview, position: int) -> int:
    if position + _SIZE.size > len(view):
        raise InvalidRecord("lz4: cut off before the end mark")
    (size,) = _SIZE.unpack_from(view, position)
    return int(size)


def _open_block(block: memoryview, is_stored: bool, room: memoryview) -> int:
    """Put what a block holds at the start of the room; say how much it is."""
    if is_stored:
        room[: len(block)] = block
        return len(block)
    try:
        # Told how much room there is, cramjam does not take the first bytes for a size.
        return int(cramjam.lz4.decompress_block_into(block, room, output_len=len(room)))
    except cramjam.DecompressionError as error:
        raise InvalidRecord(f"lz4: {error}") from error
