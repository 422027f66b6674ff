"""Real directories, and who owns them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.runtime.disk import DirectoryLocked
from odradek.runtime.os_disk import OsDisk

OWNER = """
import sys
from odradek.runtime.os_disk import OsDisk
lock = OsDisk().lock_directory(sys.argv[1])
print("locked", flush=True)
sys.stdin.read()
"""

# A JVM's lock, as Apache Kafka takes it: fcntl's, owned by the process.
JVM_OWNER = """
import fcntl, sys
file = open(sys.argv[1] + "/.lock", "w")
fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
print("locked", flush=True)
sys.stdin.read()
"""

disk = OsDisk()


@contextmanager
def owned_by(program: str, path: Path) -> Iterator[None]:
    """Another process owns the directory, and is killed in the end."""
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "locked\n"
        yield
        owner.kill()


def test_a_file_is_made_only_when_that_is_asked_for(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        disk.open(path)
    disk.open(path, create=True).close()
    assert disk.exists(path)
    with disk.open(path, create=True) as file:
        assert file.size() == 0


def test_directories_are_made_with_their_parents_and_more_than_once(tmp_path: Path) -> None:
    path = str(tmp_path / "a" / "b")
    disk.make_directories(path)
    disk.make_directories(path)
    assert disk.is_directory(path)
    assert not disk.is_directory(str(tmp_path / "c"))


def test_names_are_listed_in_order(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert disk.list_directory(str(tmp_path)) == ["a", "b", "c"]


def test_a_rename_replaces_its_target(tmp_path: Path) -> None:
    (tmp_path / "new").write_bytes(b"new")
    (tmp_path / "old").write_bytes(b"old")
    disk.rename(str(tmp_path / "new"), str(tmp_path / "old"))
    disk.sync_directory(str(tmp_path))
    assert disk.list_directory(str(tmp_path)) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"new"


def test_files_empty_directories_and_links_are_removed(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "full")
    with pytest.raises(OSError, match="not empty"):
        disk.remove(str(tmp_path / "full"))
    disk.remove(str(tmp_path / "link"))
    disk.remove(str(tmp_path / "full" / "file"))
    disk.remove(str(tmp_path / "full"))
    assert disk.list_directory(str(tmp_path)) == []


def test_what_cannot_be_found_out_is_not_a_no(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert not disk.exists(str(tmp_path / "file" / "below"))
    with pytest.raises(OSError, match="symbolic links"):
        disk.exists(str(tmp_path / "loop"))


def test_a_disk_tells_its_room_and_the_age_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.utime(tmp_path / "file", ns=(0, 1_234_567_890))
    assert disk.modified_ms(str(tmp_path / "file")) == 1234
    assert disk.free_bytes(str(tmp_path)) > 0


def test_a_directory_has_one_owner_in_a_process(tmp_path: Path) -> None:
    first = disk.lock_directory(str(tmp_path))
    for _ in range(2):
        with pytest.raises(DirectoryLocked, match=str(tmp_path)):
            disk.lock_directory(str(tmp_path))
    first.release()
    first.release()
    disk.lock_directory(str(tmp_path)).release()


@pytest.mark.parametrize("program", [OWNER, JVM_OWNER])
def test_a_directory_is_locked_until_its_owner_dies(tmp_path: Path, program: str) -> None:
    with owned_by(program, tmp_path), pytest.raises(DirectoryLocked):
        disk.lock_directory(str(tmp_path))
    disk.lock_directory(str(tmp_path)).release()


def test_a_jvm_sees_our_lock_even_after_a_second_try_of_ours(tmp_path: Path) -> None:
    lock = disk.lock_directory(str(tmp_path))
    with pytest.raises(DirectoryLocked):
        disk.lock_directory(str(tmp_path))
    command = [sys.executable, "-c", JVM_OWNER, str(tmp_path)]
    refused = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert b"BlockingIOError" in refused.stderr
    lock.release()


def test_a_directory_that_is_not_there_cannot_be_owned(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        disk.lock_directory(str(tmp_path / "nowhere"))
