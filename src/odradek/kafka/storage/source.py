"""Two ways to the bytes of files: warm and cold.

The loop may not wait for a device, so it reads what memory holds, and learns with `NotCached`
that the rest is for another thread, which then does the same with a cold source of its own.
"""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from odradek.kafka.storage.files import OpenFiles
from odradek.runtime.disk import Disk, File
from odradek.runtime.errors import OdradekError

LARGE_BYTES = 256 * 1024  # From here on memory is better not taken anew each time.


class NotCached(OdradekError):
    """To read this one would have to wait."""


class Source(Protocol):
    """Bytes of files by path."""

    def read(self, path: str, position: int, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end of the file."""

    def read_large(self, path: str, position: int, count: int) -> bytes | memoryview:
        """As `read`, for what is sent on and then forgotten."""

    def size(self, path: str) -> int: ...


class WarmSource:
    """What memory holds, through the loop's own handles."""

    def __init__(self, files: OpenFiles) -> None:
        self._files = files

    def read(self, path: str, position: int, count: int) -> bytes:
        data = self._files.get(path).pread_cached(position, count)
        if data is None:
            raise NotCached(path)
        return data

    def read_large(self, path: str, position: int, count: int) -> bytes | memoryview:
        room = self._files.rooms.lend(count) if count >= LARGE_BYTES else None
        if room is None:
            return self.read(path, position, count)
        found = self._files.get(path).pread_cached_into(position, room)
        if found is None:
            raise NotCached(path)
        return room[:found]

    def size(self, path: str) -> int:
        return self._files.get(path).size()


class ColdSource:
    """Whatever the disk holds, however long it takes, through handles of its own."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._files: dict[str, File] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for file in self._files.values():
            file.close()

    def read(self, path: str, position: int, count: int) -> bytes:
        return self._file(path).pread(position, count)

    def read_large(self, path: str, position: int, count: int) -> bytes | memoryview:
        return self.read(path, position, count)

    def size(self, path: str) -> int:
        return self._file(path).size()

    def _file(self, path: str) -> File:
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = self._disk.open(path, read_only=True)
        return file
