"""What every disk promises, asked of the operating system's and of the simulated one alike."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from odradek.runtime.disk import DirectoryLocked, Disk
from odradek.runtime.os_disk import OsDisk
from tests.simulation.storages import LooseStorage


@pytest.fixture(params=["os", "simulated"])
def disk(request: pytest.FixtureRequest) -> Disk:
    return OsDisk() if request.param == "os" else LooseStorage().disk()


@pytest.fixture
def root(disk: Disk, tmp_path: Path) -> Iterator[str]:
    """An empty directory of this disk."""
    path = str(tmp_path / "root")
    disk.make_directories(path)
    yield path


def test_what_was_written_is_read(disk: Disk, root: str) -> None:
    with disk.open(f"{root}/file", create=True) as file:
        assert file.append(b"hello ", memoryview(b"_world_")[1:6]) == 0
        assert file.append(bytearray(b"!")) == 11
        assert file.append() == 12
        assert file.size() == 12
        assert file.pread(0, 100) == b"hello world!"
        assert file.pread(6, 5) == b"world"
        assert file.pread(12, 5) == b""
        assert file.pread(100, 5) == b""
        assert file.path == f"{root}/file"


def test_who_knows_where_a_file_ends_extends_it(disk: Disk, root: str) -> None:
    with disk.open(f"{root}/file", create=True) as file:
        file.extend(0, b"hello ", memoryview(b"_world_")[1:6])
        file.extend(11, bytearray(b"!"))
        assert file.pread(0, 100) == b"hello world!"


@pytest.mark.parametrize("count", [100, 200_000])
def test_writes_to_several_files_are_all_done_or_say_why_not(
    disk: Disk, root: str, count: int
) -> None:
    files = [disk.open(f"{root}/{number}", create=True) for number in range(5)]
    data = [bytes([number]) * count for number in range(5)]
    writes = [partial(file.extend, 0, each) for file, each in zip(files, data, strict=True)]
    files[2].close()
    outcomes = disk.write_all(writes, 5 * count)
    assert [outcome is None for outcome in outcomes] == [True, True, False, True, True]
    for number in (0, 1, 3, 4):
        assert files[number].pread(0, 2 * count) == data[number]
        files[number].close()


def test_a_write_replaces_extends_and_leaves_zeros_between(disk: Disk, root: str) -> None:
    with disk.open(f"{root}/file", create=True) as file:
        file.write(0, b"abcdef")
        file.write(4, b"XYZ")
        assert file.pread(0, 100) == b"abcdXYZ"
        file.write(9, b"!")
        assert file.pread(0, 100) == b"abcdXYZ\0\0!"


def test_what_memory_holds_is_read_without_waiting_or_not_at_all(disk: Disk, root: str) -> None:
    with disk.open(f"{root}/file", create=True) as file:
        file.append(b"hello")
        assert file.pread_cached(0, 5) in (b"hello", None)
        assert file.pread_cached(5, 5) in (b"", None)


def test_a_file_is_cut_off_and_extended(disk: Disk, root: str) -> None:
    with disk.open(f"{root}/file", create=True) as file:
        file.append(b"hello world")
        file.truncate(5)
        assert file.pread(0, 100) == b"hello"
        file.truncate(7)
        assert file.pread(0, 100) == b"hello\0\0"
        file.preallocate(9)
        assert file.size() == 9
        file.preallocate(3)
        assert file.pread(0, 100) == b"hello\0\0\0\0"


def test_a_file_is_there_for_whoever_opens_it_later(disk: Disk, root: str) -> None:
    with disk.open(f"{root}/file", create=True) as file:
        file.append(b"hello")
        file.sync()
    with disk.open(f"{root}/file", create=True) as again:
        assert again.pread(0, 100) == b"hello"
    with disk.open(f"{root}/file", read_only=True) as reader:
        assert reader.pread(0, 100) == b"hello"
        with pytest.raises(OSError, match="Bad file descriptor"):
            reader.append(b"x")


def test_a_closed_file_is_closed(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/file", create=True)
    file.close()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        file.pread(0, 1)


def test_what_is_not_there_is_not_found(disk: Disk, root: str) -> None:
    for attempt in (
        lambda: disk.open(f"{root}/none"),
        lambda: disk.open(f"{root}/none/file", create=True),
        lambda: disk.list_directory(f"{root}/none"),
        lambda: disk.remove(f"{root}/none"),
        lambda: disk.rename(f"{root}/none", f"{root}/other"),
        lambda: disk.sync_directory(f"{root}/none"),
        lambda: disk.modified_ms(f"{root}/none"),
        lambda: disk.set_modified_ms(f"{root}/none", 0),
        lambda: disk.lock_directory(f"{root}/none"),
    ):
        with pytest.raises(FileNotFoundError):
            attempt()
    assert not disk.exists(f"{root}/none")
    assert not disk.is_directory(f"{root}/none")


def test_a_directory_lists_its_names_in_order(disk: Disk, root: str) -> None:
    disk.make_directories(f"{root}/b/c")
    disk.make_directories(f"{root}/b")
    for name in ("z", "a"):
        disk.open(f"{root}/{name}", create=True).close()
    disk.sync_directory(root)
    assert disk.list_directory(root) == ["a", "b", "z"]
    assert disk.list_directory(f"{root}/b") == ["c"]
    assert disk.is_directory(f"{root}/b")
    assert not disk.is_directory(f"{root}/a")
    assert disk.exists(f"{root}/a")
    assert not disk.exists(f"{root}/a/below")


def test_a_file_is_no_directory_nor_a_directory_a_file(disk: Disk, root: str) -> None:
    disk.open(f"{root}/file", create=True).close()
    disk.make_directories(f"{root}/directory")
    with pytest.raises(NotADirectoryError):
        disk.list_directory(f"{root}/file")
    with pytest.raises(NotADirectoryError):
        disk.make_directories(f"{root}/file/below")
    with pytest.raises(FileExistsError):
        disk.make_directories(f"{root}/file")
    with pytest.raises(IsADirectoryError):
        disk.open(f"{root}/directory")
    with pytest.raises(IsADirectoryError):
        disk.rename(f"{root}/file", f"{root}/directory")
    with pytest.raises(NotADirectoryError):
        disk.rename(f"{root}/directory", f"{root}/file")


def test_a_rename_replaces_and_moves(disk: Disk, root: str) -> None:
    disk.make_directories(f"{root}/old/deep")
    with disk.open(f"{root}/old/new", create=True) as file:
        file.append(b"new")
        disk.open(f"{root}/target", create=True).close()
        disk.rename(f"{root}/old/new", f"{root}/target")
        file.append(b"er")
    with disk.open(f"{root}/target") as target:
        assert target.pread(0, 10) == b"newer"
    disk.rename(f"{root}/target", f"{root}/target")
    disk.rename(f"{root}/old", f"{root}/moved")
    assert disk.list_directory(f"{root}/moved") == ["deep"]
    assert disk.list_directory(root) == ["moved", "target"]


def test_files_and_empty_directories_are_removed(disk: Disk, root: str) -> None:
    disk.make_directories(f"{root}/directory/below")
    with disk.open(f"{root}/file", create=True) as file:
        disk.remove(f"{root}/file")
        file.append(b"still open")
        assert file.size() == 10
    with pytest.raises(OSError, match="not empty"):
        disk.remove(f"{root}/directory")
    disk.remove(f"{root}/directory/below")
    disk.remove(f"{root}/directory")
    assert disk.list_directory(root) == []


def test_a_directory_has_one_owner(disk: Disk, root: str) -> None:
    lock = disk.lock_directory(root)
    with pytest.raises(DirectoryLocked):
        disk.lock_directory(root)
    lock.release()
    lock.release()
    disk.lock_directory(root).release()
    assert disk.list_directory(root) == [".lock"]


def test_room_and_time_are_known(disk: Disk, root: str) -> None:
    assert 0 < disk.free_bytes(root) <= disk.total_bytes(root)
    disk.open(f"{root}/file", create=True).close()
    assert disk.modified_ms(f"{root}/file") > 1_600_000_000_000
    disk.set_modified_ms(f"{root}/file", 1_234_567_890_123)
    assert disk.modified_ms(f"{root}/file") == 1_234_567_890_123
