"""The bytes of a snapshot as they come off the disk, checksummed as they are used."""

from __future__ import annotations

from collections.abc import Iterator
from zlib import adler32

from odradek.runtime.disk import File

CHUNK_BYTES = 1 << 20


class Broken(Exception):
    """Why the bytes are not a snapshot."""


class Source:
    """What is not used yet starts at `position` of `data`; `more` brings more behind it."""

    __slots__ = ("_checksum", "_chunks", "data", "position")

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._checksum = 1
        self.data = b""
        self.position = 0

    def checksum(self) -> int:
        """The Adler-32 of all bytes before the present position."""
        self._drop_used()
        return self._checksum

    def add(self, data: bytes) -> None:
        """Have these bytes behind those not used yet."""
        self._drop_used()
        self.data += data

    def more(self) -> None:
        """Have more bytes behind those not used yet."""
        self._drop_used()
        chunk = next((chunk for chunk in self._chunks if chunk), b"")
        if not chunk:
            raise Broken("it is cut off")
        self.data += chunk

    def take(self, count: int) -> bytes:
        """The next so many bytes."""
        while len(self.data) - self.position < count:
            self.more()
        start, self.position = self.position, self.position + count
        return self.data[start : self.position]

    def rest(self) -> bytes:
        """All bytes that are left; they stay unused."""
        self._drop_used()
        self.data += b"".join(self._chunks)
        return self.data

    def _drop_used(self) -> None:
        self._checksum = adler32(memoryview(self.data)[: self.position], self._checksum)
        self.data = self.data[self.position :]
        self.position = 0


def chunks_of(file: File) -> Iterator[bytes]:
    position = 0
    while chunk := file.pread(position, CHUNK_BYTES):
        yield chunk
        position += len(chunk)
