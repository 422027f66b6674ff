"""The directories of a server: made once, owned by one, each for its own kind of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from odradek.runtime.disk import DirectoryLocked
from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.errors import MisplacedFiles
from tests.zookeeper.storage.disks import MortalDisk, new_storage, put_file


def test_directories_are_made_and_survive_the_power() -> None:
    for seed in range(10):
        storage = new_storage(seed)
        directories = Directories.open(MortalDisk(storage), "/var/data", "/var/log/deep")
        assert directories.snapshots == "/var/data/version-2"
        assert directories.logs == "/var/log/deep/version-2"
        storage.crash()
        assert MortalDisk(storage).is_directory("/var/data/version-2")
        assert MortalDisk(storage).is_directory("/var/log/deep/version-2")


def test_logs_go_with_the_snapshots_unless_told_otherwise() -> None:
    directories = Directories.open(MortalDisk(new_storage()), "/data")
    assert directories.logs == directories.snapshots == "/data/version-2"
    assert len(directories.locks) == 1


def test_a_second_server_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    first = Directories.open(OsDisk(), f"{tmp_path}/data", f"{tmp_path}/log")
    for other in (f"{tmp_path}/log", f"{tmp_path}/other"):
        with pytest.raises(DirectoryLocked):
            Directories.open(OsDisk(), f"{tmp_path}/data", other)
    with pytest.raises(DirectoryLocked):
        Directories.open(OsDisk(), f"{tmp_path}/another", f"{tmp_path}/log")
    first.release()
    Directories.open(OsDisk(), f"{tmp_path}/another", f"{tmp_path}/log").release()


@pytest.mark.parametrize("path", ["/data/version-2/log.1", "/log/version-2/snapshot.1"])
def test_files_in_the_wrong_directory_are_refused_and_nothing_stays_locked(path: str) -> None:
    disk = MortalDisk(new_storage())
    Directories.open(disk, "/data", "/log").release()
    put_file(disk, path, b"")
    with pytest.raises(MisplacedFiles, match="is dataLogDir what it was"):
        Directories.open(disk, "/data", "/log")
    disk.remove(path)
    Directories.open(disk, "/data", "/log").release()
