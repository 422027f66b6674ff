"""Snapshots may be compressed whole: gzip, or the xerial stream that Java calls Snappy.

A xerial stream is a header, then blocks: a length, and that many bytes, each made from at most
32 KiB. Data comes and goes in chunks, so that a snapshot is never in memory as a whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from struct import Struct
from typing import Protocol

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + b"\x00\x00\x00\x01" * 2  # Version 1, readable since version 1.
BLOCK_BYTES = 32 * 1024
GZIP_MAGIC = b"\x1f\x8b"
GZIP_WINDOW = 31  # What zlib calls a gzip header and trailer around the stream.
METHODS = ("", "gz", "snappy")

_SIZE = Struct(">i")


class BrokenStream(Exception):
    """Compressed bytes that are cut off, or make no sense."""


class Compressor(Protocol):
    """Bytes in, fewer bytes out."""

    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


class Plain:
    """No compression."""

    def compress(self, data: bytes, /) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


class Snappy:
    """A xerial stream."""

    def __init__(self) -> None:
        self._parts = [XERIAL_HEADER]
        self._rest = b""  # What does not fill a block yet.

    def compress(self, data: bytes, /) -> bytes:
        data = self._rest + data
        end = len(data) - len(data) % BLOCK_BYTES
        for start in range(0, end, BLOCK_BYTES):
            self._add_block(data[start : start + BLOCK_BYTES])
        self._rest = data[end:]
        return self._take()

    def flush(self) -> bytes:
        if self._rest:
            self._add_block(self._rest)
        return self._take()

    def _add_block(self, data: bytes) -> None:
        import cramjam  # Few need it, and none at a cold start.

        block = bytes(cramjam.snappy.compress_raw(data))
        self._parts += _SIZE.pack(len(block)), block

    def _take(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def compressor(method: str) -> Compressor:
    """What compresses by this method: "", "gz" or "snappy"."""
    assert method in METHODS
    if method == "gz":
        return zlib.compressobj(wbits=GZIP_WINDOW)
    return Snappy() if method == "snappy" else Plain()


def method_of(path: str) -> str:
    """How a file of this name is compressed."""
    ending = path.rpartition(".")[2]
    return ending if ending in METHODS else ""


def decompress(method: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What compressed chunks hold, in chunks. Raises `BrokenStream`."""
    if method == "gz":
        return gunzip(chunks)
    return unsnap(chunks) if method == "snappy" else iter(chunks)


def gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    stream = zlib.decompressobj(wbits=GZIP_WINDOW)
    try:
        for chunk in chunks:
            yield stream.decompress(chunk)
    except zlib.error as error:
        raise BrokenStream(str(error)) from error
    if not stream.eof:
        raise BrokenStream("the gzip stream is cut off")


def unsnap(chunks: Iterable[bytes]) -> Iterator[bytes]:
    source = iter(chunks)
    data = _filled(source, b"", len(XERIAL_HEADER))
    if not data.startswith(XERIAL_MAGIC):
        raise BrokenStream("this is not a xerial stream")
    position = len(XERIAL_HEADER)
    while data := _filled(source, data[position:], _SIZE.size):
        (size,) = _SIZE.unpack_from(data)
        if size <= 0:
            raise BrokenStream(f"a block of {size} bytes")
        position = _SIZE.size + size
        data = _filled(source, data, position)
        yield _unsnap_block(data[_SIZE.size : position])


def _filled(source: Iterator[bytes], data: bytes, count: int) -> bytes:
    """The data with more behind it, to have `count` bytes; nothing if all came to an end."""
    while len(data) < count:
        chunk = next(source, b"")
        if not chunk:
            break
        data += chunk
    if data and len(data) < count:
        raise BrokenStream("the xerial stream is cut off")
    return data


def _unsnap_block(block: bytes) -> bytes:
    import cramjam

    try:
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise BrokenStream(str(error)) from error
