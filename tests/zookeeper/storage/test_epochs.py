"""The small files of a member of an ensemble."""

from __future__ import annotations

import pytest

from odradek.simulation.errors import Killed
from odradek.zookeeper.storage.epochs import (
    ACCEPTED_EPOCH,
    CURRENT_EPOCH,
    read_epoch,
    read_my_id,
    write_epoch,
)
from odradek.zookeeper.storage.errors import StorageError
from tests.zookeeper.storage.disks import MortalDisk, get_file, new_disk, put_file


def test_an_epoch_is_read_as_it_was_written() -> None:
    disk = new_disk()
    assert read_epoch(disk, "/data", CURRENT_EPOCH) is None
    write_epoch(disk, "/data", CURRENT_EPOCH, 12)
    write_epoch(disk, "/data", ACCEPTED_EPOCH, 7)
    write_epoch(disk, "/data", ACCEPTED_EPOCH, 13)
    assert read_epoch(disk, "/data", CURRENT_EPOCH) == 12
    assert read_epoch(disk, "/data", ACCEPTED_EPOCH) == 13


def test_an_epoch_is_plain_text() -> None:
    disk = new_disk()
    write_epoch(disk, "/data", CURRENT_EPOCH, 12)
    assert get_file(disk, "/data/currentEpoch") == b"12"
    assert disk.list_directory("/data") == ["currentEpoch"]


def test_a_crash_leaves_the_old_epoch_or_the_new_one() -> None:
    for seed in range(10):
        for calls_max in range(12):
            disk = new_disk(seed)
            disk.sync_directory("/")
            write_epoch(disk, "/data", CURRENT_EPOCH, 11)
            is_written = True
            try:
                write_epoch(MortalDisk(disk.storage, calls_max), "/data", CURRENT_EPOCH, 12)
            except Killed:
                is_written = False
            disk.storage.crash()
            epoch = read_epoch(MortalDisk(disk.storage), "/data", CURRENT_EPOCH)
            assert epoch in ([12] if is_written else [11, 12])


def test_an_id_may_end_its_line() -> None:
    disk = new_disk()
    assert read_my_id(disk, "/data") is None
    put_file(disk, "/data/myid", b"3\n")
    assert read_my_id(disk, "/data") == 3


@pytest.mark.parametrize("text", [b"", b"three", b"\xff"])
def test_what_is_not_a_number_is_refused_by_name(text: bytes) -> None:
    disk = new_disk()
    put_file(disk, "/data/myid", text)
    with pytest.raises(StorageError, match=r"/data/myid: .* is not a number"):
        read_my_id(disk, "/data")
