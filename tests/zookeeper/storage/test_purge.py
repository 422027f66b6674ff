"""Old files go, and nothing that a kept snapshot needs goes with them."""

from __future__ import annotations

from odradek.zookeeper.storage.names import snapshot_name
from odradek.zookeeper.storage.purge import purge
from odradek.zookeeper.storage.snapshot_file import write_snapshot
from tests.zookeeper.storage.disks import MortalDisk, new_disk, put_file
from tests.zookeeper.storage.histories import History
from tests.zookeeper.storage.logs import entry_of, write_log


def disk_with(snapshots: list[int], logs: list[int], compression: str = "") -> MortalDisk:
    disk, tree = new_disk(), History().tree
    for zxid in snapshots:
        tree.last_zxid = zxid
        write_snapshot(disk, "/data", tree, {}, compression=compression)
    write_log(disk, *([(zxid, entry_of(zxid))] for zxid in logs))
    return disk


def test_the_newest_snapshots_stay_and_the_logs_that_they_need() -> None:
    disk = disk_with(snapshots=[0, 10, 20, 30, 40], logs=[1, 11, 21, 31])
    removed = ["/data/snapshot.0", "/data/snapshot.a", "/data/log.1"]
    assert purge(disk, "/data", "/data", 3) == removed
    assert purge(disk, "/data", "/data", 3) == []


def test_the_log_that_holds_the_oldest_snapshot_s_zxid_stays() -> None:
    disk = disk_with(snapshots=[15, 25, 35], logs=[1, 12, 40])
    assert purge(disk, "/data", "/data", 3) == ["/data/log.1"]


def test_a_log_that_starts_with_the_oldest_snapshot_s_zxid_is_enough() -> None:
    disk = disk_with(snapshots=[12, 25, 35], logs=[1, 12, 40])
    assert purge(disk, "/data", "/data", 3) == ["/data/log.1"]


def test_three_snapshots_stay_at_least() -> None:
    disk = disk_with(snapshots=[1, 2, 3, 4], logs=[1])
    assert purge(disk, "/data", "/data", 1) == ["/data/snapshot.1"]


def test_fewer_snapshots_than_asked_for_all_stay() -> None:
    disk = disk_with(snapshots=[1, 2], logs=[1, 2])
    assert purge(disk, "/data", "/data", 3) == []
    assert purge(new_disk(), "/data", "/data", 3) == []


def test_a_snapshot_that_is_not_whole_is_not_counted() -> None:
    disk = disk_with(snapshots=[1, 2, 3, 4], logs=[])
    put_file(disk, "/data/snapshot.5", b"half a snapshot, longer than its header")
    put_file(disk, "/data/snapshot.6.gz", b"")
    put_file(disk, "/data/snapshot.7.snappy", b"\x82SNAP")
    assert purge(disk, "/data", "/data", 3) == ["/data/snapshot.1"]


def test_compressed_snapshots_are_counted() -> None:
    for compression in ("gz", "snappy"):
        disk = disk_with([1, 2, 3, 4], logs=[], compression=compression)
        assert purge(disk, "/data", "/data", 3) == [f"/data/{snapshot_name(1, compression)}"]


def test_what_is_neither_log_nor_snapshot_stays() -> None:
    disk = disk_with(snapshots=[1, 2, 3, 4], logs=[])
    for name in ("currentEpoch", "snapshot.1.tmp", "snapshot.backup", "log.txt"):
        put_file(disk, f"/data/{name}", b"1")
    assert purge(disk, "/data", "/data", 3) == ["/data/snapshot.1"]
