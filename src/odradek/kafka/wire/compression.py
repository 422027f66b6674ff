"""The codecs of record batches, written as Java writes them and read within a bound.

A few bytes may claim to be gigabytes, so `decompress` takes a limit: whoever would pass it is
refused, at little more cost than the limit itself. Checksums inside the compressed streams are
left alone where they cost time: the batch's own has covered these bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import IntEnum

from odradek.kafka.wire import lz4_frame, snappy_stream, zstd_frame
from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord, UnsupportedCodec
from odradek.kafka.wire.octets import Octets

GZIP_MEMBER = 31  # zlib's name for the largest window inside a gzip header and trailer.
DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024  # 256 times the default of max.message.bytes.


class Codec(IntEnum):
    """A codec, as numbered in the lowest three bits of the attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def codec_of(attributes: int) -> Codec:
    """The codec that the attributes name."""
    number = attributes & 0x07
    if number > Codec.ZSTD:
        raise UnsupportedCodec(f"nobody knows codec {number}")
    return _CODECS[number]


def compress(codec: Codec, data: Octets, level: int | None = None) -> bytes:
    """The data in the codec's framing; gzip and zstd take the level of their own settings."""
    return _COMPRESSORS[codec](data, level)


def decompress(codec: Codec, data: Octets, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
    """The data as it was, if that is at most `limit` bytes, else `BatchTooLarge`."""
    return _DECOMPRESSORS[codec](data, limit)


def _compress_gzip(data: Octets, level: int | None) -> bytes:
    member = bytearray(zlib.compress(data, -1 if level is None else level, GZIP_MEMBER))
    member[8:10] = b"\x00\xff"  # Java says neither how hard it tried nor on which system.
    return bytes(member)


def _decompress_gzip(data: Octets, limit: int) -> bytes:
    stream = zlib.decompressobj(GZIP_MEMBER)
    try:
        plain = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise InvalidRecord(f"gzip: {error}") from error
    if len(plain) > limit:
        raise BatchTooLarge(f"gzip: more than {limit} bytes")
    if not stream.eof or stream.unused_data:
        raise InvalidRecord("gzip: not one whole member")
    return plain


def _keep(data: Octets, _: int | None) -> bytes:
    return bytes(data)


_CODECS = tuple(Codec)
_COMPRESSORS: dict[Codec, Callable[[Octets, int | None], bytes]] = {
    Codec.NONE: _keep,
    Codec.GZIP: _compress_gzip,
    Codec.SNAPPY: snappy_stream.compress,
    Codec.LZ4: lz4_frame.compress,
    Codec.ZSTD: zstd_frame.compress,
}
_DECOMPRESSORS: dict[Codec, Callable[[Octets, int], bytes]] = {
    Codec.NONE: _keep,
    Codec.GZIP: _decompress_gzip,
    Codec.SNAPPY: snappy_stream.decompress,
    Codec.LZ4: lz4_frame.decompress,
    Codec.ZSTD: zstd_frame.decompress,
}
