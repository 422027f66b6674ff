"""Zstandard frames, opened into a buffer whose size their own headers bound.

A frame may state its content's size; if not, its blocks are counted: stored and repeated ones
say how much they hold, compressed ones hold at most 128 KiB. So a small batch takes a small
buffer, whatever the limit, and a frame that states too much is not opened at all.
"""

from __future__ import annotations

import cramjam

from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord
from odradek.kafka.wire.octets import Octets

MAGIC = 0xFD2FB528
SKIPPABLE_MAGIC = 0x184D2A50  # The lowest four bits are free.
BLOCK_BYTES_MAX = 128 * 1024
LEVEL = 3  # Java's choice.

_STORED, _REPEATED = 0, 1
_CONTENT_SIZE_BYTES = (0, 2, 4, 8)
_DICTIONARY_ID_BYTES = (0, 1, 2, 4)


def compress(data: Octets, level: int | None = None) -> bytes:
    """One frame."""
    return bytes(cramjam.zstd.compress(data, level=LEVEL if level is None else level))


def decompress(data: Octets, limit: int) -> bytes:
    """What the frames hold."""
    bound = _content_bound(memoryview(data), limit)
    plain = bytearray(min(bound, limit))
    try:
        size = cramjam.zstd.decompress_into(data, plain)
    except cramjam.DecompressionError as error:
        if bound > limit:
            raise BatchTooLarge(f"zstd: does not open into {limit} bytes") from error
        raise InvalidRecord(f"zstd: {error}") from error
    return bytes(memoryview(plain)[:size])


def _content_bound(view: memoryview, limit: int) -> int:
    """The most bytes that the frames in here can hold."""
    bound = position = 0
    while position < len(view):
        magic = _number(view, position, 4)
        position += 4
        if magic & ~0x0F == SKIPPABLE_MAGIC:
            position += 4 + _number(view, position, 4)
            continue
        if magic != MAGIC:
            raise InvalidRecord("zstd: not a frame")
        stated, position, checksum_bytes = _read_header(view, position)
        if stated is not None and stated > limit:
            raise BatchTooLarge(f"zstd: a frame of {stated} bytes; the limit is {limit}")
        counted, position = _count_blocks(view, position)
        bound += counted if stated is None else min(stated, counted)
        position += checksum_bytes
    return bound


def _read_header(view: memoryview, position: int) -> tuple[int | None, int, int]:
    """The content's size if it is stated, where the blocks start, and the bytes after them."""
    descriptor = _number(view, position, 1)
    is_single_segment = descriptor >> 5 & 1
    position += 1 + (1 - is_single_segment) + _DICTIONARY_ID_BYTES[descriptor & 3]
    size_bytes = _CONTENT_SIZE_BYTES[descriptor >> 6] or is_single_segment
    stated = _number(view, position, size_bytes) if size_bytes else None
    if stated is not None and size_bytes == 2:
        stated += 256
    return stated, position + size_bytes, 4 if descriptor & 4 else 0


def _count_blocks(view: memoryview, position: int) -> tuple[int, int]:
    """The most bytes that the blocks of one frame can hold, and where they end."""
    bound = 0
    is_last = False
    while not is_last:
        header = _number(view, position, 3)
        is_last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        bound += size if kind in (_STORED, _REPEATED) else BLOCK_BYTES_MAX
        position += 3 + (1 if kind == _REPEATED else size)
    return bound, position


def _number(view: memoryview, position: int, size: int) -> int:
    if position + size > len(view):
        raise InvalidRecord("zstd: cut off")
    return int.from_bytes(view[position : position + size], "little")
