"""Real files: whole writes, honest syncs."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.runtime import os_ring
from odradek.runtime.disk import DiskBroken, DiskError, DiskFull, File
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.os_errors import disk_errors
from odradek.runtime.os_file import IOV_MAX, behind


@pytest.fixture
def file(tmp_path: Path) -> Iterator[File]:
    with OsDisk().open(str(tmp_path / "file"), create=True) as file:
        yield file


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """A lack of room that needs no privilege: the kernel writes up to here, then refuses."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@settings(deadline=None)  # A real disk has no deadline to keep.
@given(st.lists(st.lists(st.binary(max_size=50), max_size=4), max_size=8))
def test_what_is_appended_stands_where_append_says(appends: list[list[bytes]]) -> None:
    with TemporaryDirectory() as home, OsDisk().open(f"{home}/file", create=True) as file:
        starts = [file.append(*buffers) for buffers in appends]
        for start, buffers in zip(starts, appends, strict=True):
            whole = b"".join(buffers)
            assert file.pread(start, len(whole)) == whole
        assert file.size() == sum(len(buffer) for buffers in appends for buffer in buffers)


def test_more_buffers_than_the_kernel_takes_at_once_are_all_written(file: File) -> None:
    buffers = [b""] * IOV_MAX + [b"%d," % number for number in range(3 * IOV_MAX)]
    file.append(*buffers)
    assert file.pread(0, file.size()) == b"".join(buffers)


def test_a_file_is_extended_by_more_buffers_than_the_kernel_takes_at_once(file: File) -> None:
    file.append(b"begun")
    buffers = [b"%d," % number for number in range(3 * IOV_MAX)]
    file.extend(5, *buffers)
    assert file.pread(0, file.size()) == b"begun" + b"".join(buffers)


@given(st.lists(st.binary(max_size=5)), st.integers(0, 30))
def test_what_is_left_of_buffers_is_their_end(buffers: list[bytes], count: int) -> None:
    rest = behind(count, buffers)
    assert b"".join(rest) == b"".join(buffers)[count:]
    assert all(rest)


def test_a_read_is_short_only_at_the_end(file: File) -> None:
    file.append(b"0123456789")
    assert file.pread(2, 3) == b"234"
    assert file.pread(8, 100) == b"89"
    assert file.pread(10, 1) == b""
    assert file.pread(99, 1) == b""
    room = memoryview(bytearray(4))
    assert (file.pread_into(2, room), bytes(room)) == (4, b"2345")
    assert (file.pread_into(8, room), bytes(room)) == (2, b"8945")
    assert file.pread_into(99, room) == 0


@pytest.mark.parametrize(("position", "count"), [(0, 10), (2, 3), (8, 100), (10, 1), (99, 1)])
def test_a_cached_read_answers_as_a_read_or_not_at_all(
    file: File, position: int, count: int
) -> None:
    file.append(b"0123456789")
    assert file.pread_cached(position, count) in (None, file.pread(position, count))
    room = memoryview(bytearray(count))
    found = file.pread_cached_into(position, room)
    assert found is None or bytes(room[:found]) == file.pread(position, count)


def test_data_in_memory_is_read_without_waiting_where_the_kernel_can_tell(file: File) -> None:
    file.append(b"x" * 100_000)
    expected = b"x" * 100_000 if can_tell_cached(file.path) else None
    assert file.pread_cached(0, 100_000) == expected
    room = memoryview(bytearray(100_000))
    assert file.pread_cached_into(0, room) == (None if expected is None else len(expected))
    assert bytes(room) == (bytes(100_000) if expected is None else expected)


def can_tell_cached(path: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.preadv(descriptor, [bytearray(1)], 0, os.RWF_NOWAIT) == 1
    except (AttributeError, OSError):
        return False
    finally:
        os.close(descriptor)


def test_a_write_changes_only_its_own_bytes(file: File) -> None:
    file.append(b"0123456789")
    file.write(3, memoryview(b"abc"))
    file.write(12, bytearray(b"z"))
    assert file.pread(0, 100) == b"012abc6789\0\0z"


def test_a_truncated_file_is_appended_to_at_its_new_end(file: File) -> None:
    file.append(b"0123456789")
    file.truncate(4)
    assert file.append(b"x") == 4
    assert file.pread(0, 100) == b"0123x"


def test_preallocated_room_reads_as_zeros(file: File) -> None:
    file.append(b"data")
    file.preallocate(10_000)
    assert file.size() == 10_000
    assert file.pread(0, 10_000) == b"data" + bytes(9_996)
    file.preallocate(10)
    assert file.size() == 10_000


def test_a_full_disk_is_said_to_be_full() -> None:
    with OsDisk().open("/dev/full") as file:
        with pytest.raises(DiskFull, match="/dev/full: No space left on device"):
            file.append(b"no room")
        with pytest.raises(DiskFull):
            file.write(0, b"no room")


def test_a_failed_append_leaves_nothing_behind(file: File) -> None:
    file.append(b"a" * 900)
    with no_file_larger_than(1000):
        with pytest.raises(DiskFull):
            file.append(b"b" * 50, b"c" * 100, b"d")
        assert file.size() == 900
        with pytest.raises(DiskFull):
            file.extend(900, b"b" * 50, b"c" * 100, b"d")
        assert file.size() == 900
        assert file.append(b"e" * 100) == 900
    assert file.pread(0, 2000) == b"a" * 900 + b"e" * 100


def test_a_failed_write_does_not_extend_the_file(file: File) -> None:
    file.append(b"a" * 900)
    with no_file_larger_than(1000), pytest.raises(DiskFull):
        file.write(950, b"b" * 100)
    assert file.size() == 900


def test_a_failed_preallocation_does_not_extend_the_file(file: File) -> None:
    file.append(b"data")
    with no_file_larger_than(1000), pytest.raises(DiskFull):
        file.preallocate(5000)
    assert file.size() == 4


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB; the tests above show the same without a privilege."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a small disk")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_disk_that_was_full_takes_writes_again(small_disk: Path) -> None:
    with OsDisk().open(str(small_disk / "file"), create=True) as file:
        file.append(b"a" * 40_000)
        with pytest.raises(DiskFull):
            file.append(b"b" * 10_000, b"c" * 40_000)
        with pytest.raises(DiskFull):
            file.preallocate(100_000)
        assert file.size() == 40_000
        assert file.append(b"d" * 10_000) == 40_000
        assert file.pread(39_999, 3) == b"add"


def test_a_device_that_fails_is_said_to_be_broken() -> None:
    nowhere = OsDisk().open("/proc/self/mem", read_only=True)  # Nothing is mapped at 0: EIO.
    with nowhere, pytest.raises(DiskBroken, match="Input/output error"):
        nowhere.pread(0, 10)


def test_a_sync_that_failed_once_fails_for_good() -> None:
    with OsDisk().open("/dev/full") as file:
        for _ in range(2):
            with pytest.raises(DiskBroken, match="sync failed"):
                file.sync()


def test_a_good_sync_may_be_repeated(file: File) -> None:
    file.append(b"data")
    file.sync()
    file.sync()


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, DiskFull),
        (errno.EDQUOT, DiskFull),
        (errno.EIO, DiskBroken),
        (errno.EROFS, DiskBroken),
        (errno.EACCES, PermissionError),
        (errno.ENOENT, FileNotFoundError),
    ],
)
def test_full_and_broken_are_told_apart(number: int, kind: type[Exception]) -> None:
    with pytest.raises(kind) as caught, disk_errors("/data"):
        raise OSError(number, os.strerror(number))
    if isinstance(caught.value, DiskError):
        assert caught.value.path == "/data"
        assert isinstance(caught.value.__cause__, OSError)


@pytest.mark.parametrize(
    "use", [lambda file: file.size(), lambda file: file.append(b"x"), lambda file: file.pread(0, 1)]
)
def test_a_closed_file_is_not_the_next_one_opened(
    file: File, tmp_path: Path, use: Callable[[File], object]
) -> None:
    file.close()
    file.close()
    with OsDisk().open(str(tmp_path / "next"), create=True) as next_file:
        with pytest.raises(OSError, match="Bad file descriptor"):
            use(file)
        assert next_file.size() == 0


def test_a_read_only_file_takes_no_writes(file: File) -> None:
    file.append(b"data")
    with OsDisk().open(file.path, read_only=True) as reader:
        with pytest.raises(OSError, match="Bad file descriptor"):
            reader.append(b"more")
        file.append(b"more")
        assert reader.pread(0, 100) == b"datamore"
        assert reader.size() == 8


def test_a_durable_write_is_there_and_can_follow_another(tmp_path: Path) -> None:
    with OsDisk().open(str(tmp_path / "a"), create=True) as file:
        file.write_durably(0, b"one")
        file.write_durably(3, bytearray(b"two"))
        file.write_durably(1, memoryview(b"N"))
        assert file.pread(0, 10) == b"oNetwo"


def write_aside(path: Path, position: int, *pieces: bytes) -> list[Exception | None]:
    """Leave one piece after the other to the kernel; what is told of each."""

    async def main() -> list[Exception | None]:
        told: list[Exception | None] = []
        with OsDisk().open(str(path), create=True) as file:
            at = position
            for piece in pieces:
                done: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
                if not file.write_aside(at, piece, done.set_result):
                    pytest.skip("no io_uring here")
                told.append(await done)
                at += len(piece)
        return told

    return asyncio.run(main())


def test_what_is_left_to_the_kernel_is_there_when_it_is_told(tmp_path: Path) -> None:
    pieces = [bytes([number]) * 5000 for number in range(20)]
    assert write_aside(tmp_path / "a", 3, *pieces) == [None] * 20
    assert (tmp_path / "a").read_bytes() == bytes(3) + b"".join(pieces)


def test_the_kernel_tells_of_a_full_disk_and_nothing_is_left_behind(small_disk: Path) -> None:
    first, second = write_aside(small_disk / "a", 0, b"a" * 40_000, b"b" * 40_000)
    assert first is None
    assert isinstance(second, DiskFull)
    assert (small_disk / "a").stat().st_size == 40_000


class Kernel:
    """A ring that says what it is told to."""

    def __init__(self, result: int) -> None:
        self._result = result

    def write(
        self, descriptor: int, position: int, data: bytes, done: Callable[[int], None]
    ) -> bool:
        if self._result > 0:
            os.pwrite(descriptor, data[: self._result], position)
        done(self._result)
        return True


@pytest.mark.parametrize("result", [3, 0, -errno.EINVAL, -errno.EOPNOTSUPP])
def test_what_the_kernel_leaves_of_a_write_is_written(
    file: File, monkeypatch: pytest.MonkeyPatch, result: int
) -> None:
    monkeypatch.setattr(os_ring, "ring_of_loop", lambda: Kernel(result))
    told: list[Exception | None] = []
    assert file.write_aside(0, b"all of it", told.append)
    assert told == [None]
    assert file.pread(0, 100) == b"all of it"


def test_a_device_that_failed_the_kernel_is_not_written_to_again(
    file: File, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os_ring, "ring_of_loop", lambda: Kernel(-errno.EIO))
    told: list[Exception | None] = []
    assert file.write_aside(0, b"data", told.append)
    assert isinstance(told[0], DiskBroken)
    assert not file.write_aside(0, b"data", told.append)
    with pytest.raises(DiskBroken):
        file.write_durably(0, b"data")


def test_without_a_ring_nothing_is_begun(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os_ring, "ring_of_loop", lambda: None)
    told: list[Exception | None] = []
    assert not file.write_aside(0, b"data", told.append)
    assert not told
    assert file.size() == 0
