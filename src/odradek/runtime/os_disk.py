"""The real disk: files and directories of the operating system."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from struct import Struct

from odradek.runtime.disk import DirectoryLock, DirectoryLocked, Disk, File
from odradek.runtime.os_errors import disk_errors
from odradek.runtime.os_file import OsFile
from odradek.runtime.side_by_side import SideBySide

LOCK_NAME = ".lock"
LARGE_BYTES = 256 * 1024  # Less is written sooner than another thread has come to help.
FLOCK = Struct("hhqqi4x")  # The kernel's struct flock: type, whence, start, length, process.


class OsDisk(Disk):
    """Files by path, as the operating system keeps them."""

    def __init__(self) -> None:
        self._side_by_side = SideBySide()

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> File:
        flags = os.O_RDONLY if read_only else os.O_RDWR
        with disk_errors(path):
            return OsFile(path, os.open(path, flags | (os.O_CREAT if create else 0), 0o666))

    def write_all(self, writes: Sequence[Callable[[], None]], size: int) -> list[Exception | None]:
        is_large = size >= LARGE_BYTES
        return self._side_by_side.do(writes) if is_large else super().write_all(writes, size)

    def exists(self, path: str) -> bool:
        return self._mode(path) is not None

    def is_directory(self, path: str) -> bool:
        mode = self._mode(path)
        return mode is not None and stat.S_ISDIR(mode)

    def list_directory(self, path: str) -> list[str]:
        with disk_errors(path):
            return sorted(os.listdir(path))

    def make_directories(self, path: str) -> None:
        with disk_errors(path):
            os.makedirs(path, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        with disk_errors(target):
            os.replace(source, target)

    def remove(self, path: str) -> None:
        with disk_errors(path):
            if stat.S_ISDIR(os.lstat(path).st_mode):
                os.rmdir(path)
            else:
                os.unlink(path)

    def sync_directory(self, path: str) -> None:
        with disk_errors(path):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def lock_directory(self, path: str) -> DirectoryLock:
        with disk_errors(path):
            lock = os.open(os.path.join(path, LOCK_NAME), os.O_RDWR | os.O_CREAT, 0o644)
            try:
                lock_whole_file(lock)
            except OSError as error:
                os.close(lock)
                if error.errno not in (errno.EAGAIN, errno.EACCES):
                    raise
                raise DirectoryLocked(path, f"another server owns it ({LOCK_NAME})") from error
        return OsDirectoryLock(lock)

    def free_bytes(self, path: str) -> int:
        with disk_errors(path):
            room = os.statvfs(path)
        return room.f_bavail * room.f_frsize

    def total_bytes(self, path: str) -> int:
        with disk_errors(path):
            room = os.statvfs(path)
        return room.f_blocks * room.f_frsize

    def modified_ms(self, path: str) -> int:
        with disk_errors(path):
            return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, modified_ms: int) -> None:
        with disk_errors(path):
            os.utime(path, ns=(modified_ms * 1_000_000, modified_ms * 1_000_000))

    def _mode(self, path: str) -> int | None:
        """None if nothing is there. A disk that cannot say is an error, not a no."""
        with disk_errors(path):
            try:
                return os.stat(path).st_mode
            except (FileNotFoundError, NotADirectoryError):
                return None


class OsDirectoryLock(DirectoryLock):
    """A lock that the kernel keeps with an open file, so that it dies with the process."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)


def lock_whole_file(descriptor: int) -> None:
    """Lock against all who open the file anew, this process included; never wait.

    A JVM locks by process with fcntl, which flock does not see. Linux has the lock that meets
    both: fcntl's, owned by the open file.
    """
    if hasattr(fcntl, "F_OFD_SETLK"):
        whole = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, whole)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
