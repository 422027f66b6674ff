"""Several log directories: what is where, and what one failure takes with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.kafka.storage.checkpoints import HIGH_WATERMARKS, RECOVERY_POINTS, START_OFFSETS, Meta
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.errors import InconsistentDirectory
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.names import (
    Purpose,
    TopicPartition,
    directory_name,
    read_directory_name,
)
from odradek.kafka.storage.removal import remove_directory
from odradek.kafka.storage.truncation import truncate_to
from odradek.runtime.disk import DirectoryLocked, DiskBroken, DiskFull
from tests.kafka.storage.disks import MortalDisk, get_file, new_disk, put_file
from tests.kafka.storage.logs import NOW_MS, SMALL, put, values_of

UNIQUE = "0123456789abcdef" * 2
TWO = ["/data/a", "/data/b"]
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def opened(disk: MortalDisk, paths: list[str] = TWO) -> LogDirectories:
    directories = LogDirectories(OpenFiles(disk, 50), lambda topic: SMALL, lambda: 0.5)
    directories.open(paths)
    for _ in directories.load():
        pass
    return directories


def test_partitions_are_spread_and_found_again() -> None:
    disk = new_disk()
    directories = opened(disk)
    for number in range(4):
        put(directories.create(TopicPartition("t", number), "id"), b"%d" % number)
    assert [len(each.logs) for each in directories.online] == [2, 2]
    directories.close(NOW_MS)
    again = opened(disk)
    for number in range(4):
        log = again.find(TopicPartition("t", number))
        assert log is not None
        assert values_of(log) == {0: b"%d" % number}


def test_a_clean_stop_is_known_once() -> None:
    disk = new_disk()
    opened(disk).close(NOW_MS)
    assert disk.exists("/data/a/.kafka_cleanshutdown")
    again = opened(disk)
    assert all(each.was_clean for each in again.online)
    assert not disk.exists("/data/a/.kafka_cleanshutdown")


def test_after_a_crash_high_watermarks_and_start_offsets_are_as_written() -> None:
    disk = new_disk()
    directories = opened(disk, ["/data/a"])
    log = directories.create(T0, None)
    for _ in range(9):
        put(log, bytes(100))
    log.raise_high_watermark(8)
    log.start_offset = 1
    (directory,) = directories.online
    directory.checkpoint(HIGH_WATERMARKS).run()
    directory.checkpoint(START_OFFSETS).run()
    disk.die()
    again = opened(MortalDisk(disk.storage), ["/data/a"]).find(T0)
    assert again is not None
    assert (again.start_offset, again.high_watermark, again.end_offset) == (1, 8, 9)


def test_only_one_process_has_a_directory() -> None:
    disk = new_disk()
    opened(disk)
    with pytest.raises(DirectoryLocked):
        opened(MortalDisk(disk.storage))


def test_a_failed_directory_takes_only_its_own_partitions() -> None:
    disk = new_disk()
    directories = opened(disk)
    first, second = directories.create(T0, None), directories.create(T1, None)
    disk.storage.device.fail("sync", count=10**6, under="/data/a")
    put(first, b"x")
    with pytest.raises(DiskBroken) as raised:
        first.flush(NOW_MS)
    lost = directories.fail(directories.directory_of(first), raised.value)
    assert lost == [T0]
    assert directories.find(T0) is None
    assert list(directories.offline) == ["/data/a"]
    put(second, b"y")
    second.flush(NOW_MS)
    directories.close(NOW_MS)
    assert disk.exists("/data/b/.kafka_cleanshutdown")
    assert not disk.exists("/data/a/.kafka_cleanshutdown")


def test_a_directory_that_cannot_be_read_is_offline_from_the_start() -> None:
    disk = new_disk()
    opened(disk).close(NOW_MS)
    put_file(disk, "/data/a/recovery-point-offset-checkpoint", b"nonsense")
    directories = opened(disk)
    assert list(directories.offline) == ["/data/a"]
    assert [each.path for each in directories.online] == ["/data/b"]


def test_a_directory_belongs_to_one_broker() -> None:
    disk = new_disk()
    (directory,) = opened(disk, ["/data/a"]).online
    directory.claim(Meta(1, "cluster"))
    directory.claim(Meta(1, "cluster"))
    with pytest.raises(InconsistentDirectory):
        directory.claim(Meta(2, "cluster"))
    assert b"broker.id=1\n" in get_file(disk, "/data/a/meta.properties")


def test_a_deleted_partition_has_another_name_until_it_is_removed() -> None:
    disk = new_disk()
    (directory,) = opened(disk, ["/data/a"]).online
    put(directory.create(T0, SMALL, None, lambda: 0.0), b"x")
    path = directory.retire(T0, Purpose.DELETE, UNIQUE)
    assert path == f"/data/a/t-0.{UNIQUE}-delete"
    assert not disk.exists("/data/a/t-0")
    disk.die()
    again = opened(MortalDisk(disk.storage), ["/data/a"])
    assert again.online[0].doomed == [path]
    assert again.find(T0) is None
    remove_directory(again.files.disk, path)
    assert not again.files.disk.exists(path)


@pytest.mark.parametrize("seed", range(5))
def test_deletions_that_are_synced_once_are_all_safe(seed: int) -> None:
    disk = new_disk(seed)
    (directory,) = opened(disk, ["/data/a"]).online
    many = [TopicPartition("t", number) for number in range(5)]
    for where in many:
        directory.create(where, SMALL, "id", lambda: 0.0)
    directory.sync_names()
    for where in many:
        directory.retire(where, Purpose.DELETE, UNIQUE)
    directory.sync_names()
    disk.die()
    disk.storage.crash()
    (again,) = opened(MortalDisk(disk.storage), ["/data/a"]).online
    assert not again.logs
    assert len(again.doomed) == 5


def test_a_future_replica_stands_beside_the_current_one() -> None:
    disk = new_disk()
    directories = opened(disk)
    directories.online[0].create(T0, SMALL, None, lambda: 0.0)
    directories.online[1].create(T0, SMALL, None, lambda: 0.0, Purpose.FUTURE, UNIQUE)
    directories.close(NOW_MS)
    again = opened(disk)
    assert list(again.online[0].logs) == [T0]
    assert list(again.online[1].futures) == [T0]
    assert again.online[1].logs == {}


def test_a_future_replica_takes_the_plain_name() -> None:
    disk = new_disk()
    (directory,) = opened(disk, ["/data/a"]).online
    future = directory.create(T0, SMALL, None, lambda: 0.0, Purpose.FUTURE, UNIQUE)
    put(future, b"moved")
    future.raise_high_watermark(1)
    log = directory.promote(T0, lambda: 0.0, NOW_MS)
    assert (log.directory, log.high_watermark) == ("/data/a/t-0", 1)
    assert values_of(log) == {0: b"moved"}
    assert (list(directory.logs), list(directory.futures)) == ([T0], [])


def test_names_of_directories_are_read() -> None:
    name = f"a-topic-with-dashes-12.{UNIQUE}-future"
    where = TopicPartition("a-topic-with-dashes", 12)
    assert read_directory_name(name) == (where, Purpose.FUTURE)
    assert directory_name(where, Purpose.FUTURE, UNIQUE) == name
    assert read_directory_name("nothing") is None
    long = TopicPartition("x" * 249, 7)
    assert len(directory_name(long, Purpose.DELETE, UNIQUE)) == 255


def test_a_truncation_is_written_down_before_it_is_done() -> None:
    disk = new_disk()
    directories = opened(disk, ["/data/a"])
    log = directories.create(T0, None)
    for _ in range(4):
        put(log, b"x")
    log.flush(NOW_MS)
    (directory,) = directories.online
    directory.checkpoint(RECOVERY_POINTS).run()
    directory.truncate({T0: 2})
    assert get_file(disk, "/data/a/recovery-point-offset-checkpoint") == b"0\n1\nt 0 2\n"
    assert log.end_offset == 2


def test_a_full_disk_leaves_the_log_as_it_was() -> None:
    disk = new_disk()
    log = opened(disk, ["/data/a"]).create(T0, None)
    put(log, b"before")
    disk.storage.device.fill()
    for _ in range(3):
        with pytest.raises(DiskFull):
            put(log, bytes(500))
    assert values_of(log) == {0: b"before"}
    disk.storage.device.repair()
    put(log, bytes(500))
    put(log, bytes(500))
    assert list(values_of(log)) == [0, 1, 2]


def test_a_full_disk_during_a_roll_leaves_the_log_as_it_was() -> None:
    disk = new_disk()
    log = opened(disk, ["/data/a"]).create(T0, None)
    while len(log.segments) < 2:
        put(log, bytes(100))
    before = values_of(log)
    disk.storage.device.fill()
    while not _is_full(lambda: put(log, bytes(100))):
        before = values_of(log)
    assert values_of(log) == before
    disk.storage.device.repair()
    for _ in range(8):
        put(log, bytes(100))
    assert len(values_of(log)) == len(before) + 8


def test_a_broken_disk_is_told_apart_from_a_full_one() -> None:
    disk = new_disk()
    log = opened(disk, ["/data/a"]).create(T0, None)
    put(log, b"x")
    disk.storage.device.fail("write", under="/data/a")
    with pytest.raises(DiskBroken):
        put(log, b"y")


def test_a_flush_that_ends_after_a_truncation_promises_nothing() -> None:
    log = opened(new_disk(), ["/data/a"]).create(T0, None)
    for _ in range(4):
        put(log, b"x")
    flush = log.begin_flush()
    flush.run()
    truncate_to(log, 2)
    put(log, b"y")
    put(log, b"z")
    log.end_flush(flush, NOW_MS)
    assert log.recovery_point <= 2


def test_a_flush_does_not_vouch_for_a_segment_that_was_finished_meanwhile() -> None:
    log = opened(new_disk(), ["/data/a"]).create(T0, None)
    put(log, b"x")
    flush = log.begin_flush()
    log.roll(NOW_MS)
    flush.run()
    log.end_flush(flush, NOW_MS)
    assert log.recovery_point == 0
    log.flush(NOW_MS)
    assert log.recovery_point == 1


def _is_full(work: Callable[[], object]) -> bool:
    try:
        work()
    except DiskFull:
        return True
    return False


def test_a_replica_takes_the_place_of_another_with_all_that_it_has() -> None:
    disk = new_disk()
    directories = opened(disk)
    first, second = directories.online
    put(first.create(T0, SMALL, "id", lambda: 0.0), b"a", b"b")
    future = second.create(T0, SMALL, "id", lambda: 0.0, Purpose.FUTURE, UNIQUE)
    put(future, b"a", b"b")
    assert directories.find_future(T0) == (second, future)
    promoted = second.promote(T0, lambda: 0.0, NOW_MS)
    first.retire(T0, Purpose.DELETE, UNIQUE)
    assert directories.find_future(T0) is None
    assert directories.find(T0) is promoted
    put(promoted, b"c")
    assert list(values_of(promoted).values()) == [b"a", b"b", b"c"]


@pytest.mark.parametrize("ahead", [0, 1])
def test_of_two_replicas_the_one_whose_history_goes_further_is_kept(ahead: int) -> None:
    disk = new_disk()
    directories = opened(disk)
    for number, directory in enumerate(directories.online):
        log = directory.create(T0, SMALL, "id", lambda: 0.0)
        put(log, b"a", b"b")
        if number == ahead:
            put(log, b"c")
    directories.close(NOW_MS)
    again = opened(disk)
    assert [T0 in it.logs for it in again.online] == [ahead == 0, ahead == 1]
    kept = again.find(T0)
    assert kept is not None and kept.end_offset == 3
    assert [len(it.doomed) for it in again.online] == [int(ahead == 1), int(ahead == 0)]


def test_a_later_epoch_counts_more_than_more_records() -> None:
    disk = new_disk()
    directories = opened(disk)
    first, second = (it.create(T0, SMALL, "id", lambda: 0.0) for it in directories.online)
    put(first, b"a", b"b", b"lost")
    put(second, b"a")
    put(second, b"new", epoch=3)
    directories.close(NOW_MS)
    log = opened(disk).find(T0)
    assert log is not None and list(values_of(log).values()) == [b"a", b"new"]


def test_one_future_is_kept_and_none_where_the_replica_is() -> None:
    disk = new_disk()
    directories = opened(disk)
    first, second = directories.online
    first.create(T0, SMALL, "id", lambda: 0.0)
    first.create(T0, SMALL, "id", lambda: 0.0, Purpose.FUTURE, UNIQUE)
    second.create(T1, SMALL, "id", lambda: 0.0)
    other = UNIQUE[::-1]
    first.create(T1, SMALL, "id", lambda: 0.0, Purpose.FUTURE, UNIQUE)
    put(first.create(T1, SMALL, "id", lambda: 0.0, Purpose.FUTURE, other), b"a")
    directories.close(NOW_MS)
    again = opened(disk)
    first, second = again.online
    assert list(first.futures) == [T1]
    assert (list(first.logs), list(second.logs)) == ([T0], [T1])
    assert len(first.doomed) == 2


def test_checkpoints_tell_of_replicas_that_are_to_come() -> None:
    disk = new_disk()
    directories = opened(disk)
    future = directories.online[1].create(T0, SMALL, "id", lambda: 0.0, Purpose.FUTURE, UNIQUE)
    for _ in range(9):
        put(future, bytes(100))
    future.raise_high_watermark(8)
    future.flush(NOW_MS)
    future.start_offset = 1
    for name in (RECOVERY_POINTS, HIGH_WATERMARKS, START_OFFSETS):
        directories.online[1].checkpoint(name).run()
    disk.die()
    found = opened(MortalDisk(disk.storage)).find_future(T0)
    assert found is not None
    log = found[1]
    assert (log.start_offset, log.high_watermark, log.end_offset) == (1, 8, 9)
