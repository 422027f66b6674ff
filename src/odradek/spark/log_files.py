"""Where segment files may lie: a folder of this machine, or a URI of a store that Arrow can open.

`file:`, `s3:` (and Hadoop's `s3a:`), `gs:`, `abfs:` and `hdfs:` are opened by Arrow itself, on the
driver to list and on executors to read, with the credentials that each finds around it; `hdfs:`
needs Hadoop's own library. Hadoop's other stores are out of reach: where partitions are planned and
read there is no JVM to ask.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from odradek.runtime.disk import DiskError

if TYPE_CHECKING:
    from pyarrow import NativeFile, fs


class ReadableFile(Protocol):
    """As much of a file as reading takes."""

    def size(self) -> int: ...

    def pread(self, position: int, count: int) -> bytes: ...

    def pread_into(self, position: int, room: memoryview) -> int: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Files(Protocol):
    """As much of a disk as reading takes."""

    def list_directory(self, path: str) -> list[str]: ...

    def is_directory(self, path: str) -> bool: ...

    def open(self, path: str, *, read_only: bool = False) -> ReadableFile: ...


def locate(path: str) -> tuple[Files, str]:
    """What opens the files below a path, and the path as that names it."""
    if not is_uri(path):
        from odradek.runtime.os_disk import OsDisk

        return OsDisk(), path.rstrip("/") or "/"
    import pyarrow as pa
    from pyarrow import fs

    try:
        system, folder = fs.FileSystem.from_uri(_arrow_uri(path))
    except (pa.ArrowException, OSError) as error:
        raise DiskError(path, f"Arrow cannot open it: {error}") from error
    return ArrowFiles(system), folder.rstrip("/") or "/"


def is_uri(path: str) -> bool:
    return "://" in path or path.startswith("file:")


def _arrow_uri(path: str) -> str:
    """Hadoop writes `file:/a` and `s3a://b`, where Arrow knows `file:///a` and `s3://b`."""
    scheme, _, rest = path.partition(":")
    scheme = {"s3a": "s3", "s3n": "s3"}.get(scheme, scheme)
    if scheme == "file":
        rest = "//" + (rest if not rest.startswith("//") else rest[2:])
    return f"{scheme}:{rest}"


class ArrowFiles:
    """The files of one of Arrow's file systems."""

    def __init__(self, system: fs.FileSystem) -> None:
        self._system = system

    def list_directory(self, path: str) -> list[str]:
        from pyarrow import fs

        try:
            found = self._system.get_file_info(fs.FileSelector(path))
        except OSError as error:
            raise DiskError(path, str(error)) from error
        return sorted(one.base_name for one in found)

    def is_directory(self, path: str) -> bool:
        from pyarrow import fs

        return bool(self._system.get_file_info(path).type == fs.FileType.Directory)

    def open(self, path: str, *, read_only: bool = False) -> ReadableFile:
        assert read_only, "what is looked at stays as it is"
        try:
            return ArrowFile(self._system.open_input_file(path))
        except OSError as error:
            raise DiskError(path, str(error)) from error


class ArrowFile:
    """A file that Arrow has opened."""

    def __init__(self, file: NativeFile) -> None:
        self._file = file

    def size(self) -> int:
        return int(self._file.size())

    def pread(self, position: int, count: int) -> bytes:
        return bytes(self._file.read_at(count, position))

    def pread_into(self, position: int, room: memoryview) -> int:
        self._file.seek(position)
        return int(self._file.readinto(room))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()
