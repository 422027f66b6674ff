"""Disk: the only way to files.

Everything that must outlive a crash goes through here, so that a simulated disk can lie
about it in every way a real one does. Calls block; shells run the slow ones in an executor.

A promise is only as good as its `sync`: bytes are safe after the file's `sync`, a new,
renamed or removed name after its directory's `sync_directory`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from odradek.runtime.errors import OdradekError

Buffer = bytes | bytearray | memoryview
WrittenAside = Callable[[Exception | None], None]  # Told why not, if it was not written.


class DiskError(OdradekError):
    """The disk did not do what it was asked to; `path` says where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class DiskFull(DiskError):
    """No room (ENOSPC, EDQUOT): nothing was promised, and writing may work again later."""


class DiskBroken(DiskError):
    """The device failed (EIO). What was not synced before may be gone, whatever a retry says."""


class DirectoryLocked(DiskError):
    """Another process owns this directory."""


class File(ABC):
    """An open file. Writes are whole: they either happen or raise."""

    path: str

    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def pread(self, position: int, count: int) -> bytes:
        """Up to `count` bytes from `position`; fewer only at the end of the file."""

    def pread_into(self, position: int, room: memoryview) -> int:
        """As `pread`, into the room of the caller; how many bytes it was."""
        data = self.pread(position, len(room))
        room[: len(data)] = data
        return len(data)

    @abstractmethod
    def pread_cached(self, position: int, count: int) -> bytes | None:
        """As `pread` if memory holds the bytes, else None: never waits for the device."""

    def pread_cached_into(self, position: int, room: memoryview) -> int | None:
        """As `pread_cached`, into the room of the caller; how many bytes it was."""
        data = self.pread_cached(position, len(room))
        if data is None:
            return None
        room[: len(data)] = data
        return len(data)

    @abstractmethod
    def write(self, position: int, data: Buffer) -> None: ...

    def write_durably(self, position: int, data: Buffer) -> None:
        """Write, and return once it would survive a power cut; one call of the system if it can."""
        self.write(position, data)
        self.sync()

    def write_aside(self, position: int, data: bytes, done: WrittenAside) -> bool:
        """As `write_durably`, but let the system do it while we go on, and `done` hear of it.

        Nothing else may be done with the file meanwhile. False where that cannot be: then nothing
        was begun.
        """
        return False

    @abstractmethod
    def append(self, *buffers: Buffer) -> int:
        """Write all buffers, in order, at the end of the file; return where they start."""

    def extend(self, end: int, *buffers: Buffer) -> None:
        """As `append`, by one who owns the file and knows where it ends."""
        if (found := self.size()) != end:
            raise DiskBroken(self.path, f"ends at {found}, not at {end}")
        self.append(*buffers)

    @abstractmethod
    def truncate(self, size: int) -> None: ...

    @abstractmethod
    def preallocate(self, size: int) -> None:
        """Extend the file with zeros up to `size`, so that later writes cannot lack room."""

    @abstractmethod
    def sync(self) -> None:
        """Return once all bytes written so far would survive a power cut (fdatasync)."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def outcome_of(write: Callable[[], None]) -> Exception | None:
    """Do it; None if it was done, else why not."""
    try:
        write()
    except (DiskError, OSError) as error:
        return error
    return None


class DirectoryLock(ABC):
    """A directory owned by this process, until released or dead."""

    @abstractmethod
    def release(self) -> None: ...


class Disk(ABC):
    """Files and directories by absolute path."""

    @abstractmethod
    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
        """Open for reading and writing. FileNotFoundError unless it exists or `create`."""

    def write_all(self, writes: Sequence[Callable[[], None]], size: int) -> list[Exception | None]:
        """Do writes, each to another file, of so many bytes in all; what went wrong with each.

        They may be done side by side, but all are done when this returns.
        """
        return list(map(outcome_of, writes))

    @abstractmethod
    def exists(self, path: str) -> bool: ...

    @abstractmethod
    def is_directory(self, path: str) -> bool: ...

    @abstractmethod
    def list_directory(self, path: str) -> list[str]:
        """The names in a directory, sorted."""

    @abstractmethod
    def make_directories(self, path: str) -> None:
        """Create the directory and its parents; fine if it is there."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Rename atomically; `target` is replaced."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file or an empty directory."""

    @abstractmethod
    def sync_directory(self, path: str) -> None:
        """Return once the names in this directory would survive a power cut."""

    @abstractmethod
    def lock_directory(self, path: str) -> DirectoryLock:
        """Own this directory or raise `DirectoryLocked`. A dead process owns nothing."""

    @abstractmethod
    def free_bytes(self, path: str) -> int: ...

    @abstractmethod
    def total_bytes(self, path: str) -> int:
        """The size of the whole device that holds this path."""

    @abstractmethod
    def modified_ms(self, path: str) -> int:
        """The wall-clock time of the last change of this file."""

    @abstractmethod
    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        """Say when this file changed last: what was copied is as old as it was."""
