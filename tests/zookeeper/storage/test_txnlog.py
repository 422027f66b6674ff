"""The log as it is written: the original's bytes, and no promise broken when the disk fails."""

from __future__ import annotations

import pytest

from odradek.runtime.disk import Buffer, DiskBroken, DiskFull, WrittenAside, outcome_of
from odradek.simulation.disk.files import SimulatedFile
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.txnlog import STRIDE_BYTES, TxnLog, padded_size
from tests.zookeeper.storage.disks import MortalDisk, get_file, new_disk, put_file
from tests.zookeeper.storage.logs import batch_of, entry_of, write_log, zxids
from tests.zookeeper.wire.golden import golden_bytes

STEP = 64 * 1024


def test_a_log_of_a_real_server_is_written_again_to_the_same_bytes() -> None:
    disk, golden = new_disk(), golden_bytes("log.1")
    put_file(disk, "/data/log.1", golden)
    entries = [(entry.zxid, entry.data) for entry in read_log(disk, "/data", 0)]
    disk.remove("/data/log.1")
    write_log(disk, entries, step_bytes=0)
    assert get_file(disk, "/data/log.1") == golden


def test_a_fresh_log_is_as_long_as_that_of_the_original() -> None:
    disk = new_disk()
    write_log(disk, [(1, entry_of(1))])
    assert disk.open("/data/log.1").size() == 67108880


@pytest.mark.parametrize(
    ("position", "size", "expected"),
    [
        (16, 16, 16 + STEP),
        (STEP - 4081, 16 + STEP, 16 + STEP),
        (STEP - 4080, 16 + STEP, 16 + 2 * STEP),
        (16 + STEP, 16 + STEP, 16 + 2 * STEP),
        (17 + STEP, 16 + STEP, 2 * STEP),
        (5 * STEP, 16 + STEP, 6 * STEP),
    ],
)
def test_a_log_grows_when_its_entries_come_close_to_its_end(
    position: int, size: int, expected: int
) -> None:
    assert padded_size(position, size, STEP) == expected


def test_a_log_that_is_not_to_be_padded_is_not() -> None:
    assert padded_size(position=100, size=16, step=0) == 16


def test_a_batch_is_written_with_one_write_and_one_sync() -> None:
    disk = new_disk()
    log = TxnLog(disk, "/data")
    log.write(batch_of([(1, entry_of(1))]))
    before = disk.calls
    log.write(batch_of((zxid, entry_of(zxid)) for zxid in range(2, 200)))
    assert disk.calls - before == 2
    assert zxids(disk) == list(range(1, 200))


def test_entries_that_reach_new_ground_take_zeros_with_them_and_the_next_ones_need_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends, write = [], SimulatedFile.write

    def noted(file: SimulatedFile, position: int, data: Buffer) -> None:
        ends.append(position + len(data))
        write(file, position, data)

    monkeypatch.setattr(SimulatedFile, "write", noted)
    disk, count = new_disk(), STRIDE_BYTES // 1000
    log = TxnLog(disk, "/data", step_bytes=4 * STRIDE_BYTES)
    log.write(batch_of([(1, entry_of(1))]))
    log.write(batch_of([(2, entry_of(2))]))
    log.write(batch_of((zxid, bytes(1000)) for zxid in range(3, 3 + count)))
    first, second, third = ends
    assert first == STRIDE_BYTES
    assert second < 1000
    assert third == 2 * STRIDE_BYTES


def test_what_follows_a_roll_goes_to_a_file_named_after_its_first_zxid() -> None:
    disk, batch = new_disk(), Batch()
    batch.append(0x1F, entry_of(0x1F))
    batch.roll()
    batch.append(0x100000001, entry_of(0x100000001))
    batch.append(0x100000002, entry_of(0x100000002))
    TxnLog(disk, "/data", step_bytes=0).write(batch)
    assert disk.list_directory("/data") == ["log.100000001", "log.1f"]
    assert zxids(disk) == [0x1F, 0x100000001, 0x100000002]


def test_a_roll_at_the_end_of_a_batch_is_meant_for_the_next() -> None:
    disk = new_disk()
    log = TxnLog(disk, "/data", step_bytes=0)
    first = batch_of([(1, entry_of(1))])
    first.roll()
    log.write(first)
    log.write(batch_of([(2, entry_of(2))]))
    log.write(batch_of([], rolls=True))
    log.write(batch_of([(3, entry_of(3))]))
    assert disk.list_directory("/data") == ["log.1", "log.2", "log.3"]


def test_a_file_that_is_larger_than_the_limit_is_the_last_to_take_a_batch() -> None:
    disk = new_disk()
    log = TxnLog(disk, "/data", step_bytes=STEP, file_bytes_max=1024)
    for zxid in range(1, 5):
        log.write(batch_of([(zxid, entry_of(zxid, bytes(600)))]))
    assert disk.list_directory("/data") == ["log.1", "log.3"]
    assert zxids(disk) == [1, 2, 3, 4]


def test_a_new_log_does_not_append_to_what_it_finds() -> None:
    disk = new_disk()
    put_file(disk, "/data/log.1", b"left by a crash, without an entry")
    write_log(disk, [(1, entry_of(1))])
    assert zxids(disk) == [1]


def test_without_syncs_entries_are_only_written() -> None:
    disk = new_disk()
    disk.storage.device.fail("sync", count=9)
    write_log(disk, [(1, entry_of(1))], is_synced=False)
    assert zxids(disk) == [1]


def test_a_synced_log_survives_the_power() -> None:
    for seed in range(20):
        disk = new_disk(seed)
        disk.sync_directory("/")
        write_log(disk, [(1, entry_of(1)), (2, entry_of(2))], step_bytes=STEP)
        disk.storage.crash()
        assert zxids(MortalDisk(disk.storage)) == [1, 2]


@pytest.mark.parametrize("room", [0, 1, 20, 60, 100, 150, 1000])
def test_a_full_disk_takes_nothing_and_the_same_batch_when_there_is_room_again(room: int) -> None:
    disk, big = new_disk(), bytes(1000)
    log = TxnLog(disk, "/data", step_bytes=0)
    log.write(batch_of([(1, entry_of(1))]))
    disk.storage.device.capacity_bytes = disk.storage.device.used_bytes + room
    batch = batch_of([(2, entry_of(2, big)), (3, entry_of(3, big))])
    with pytest.raises(DiskFull):
        log.write(batch)
    assert zxids(disk) == [1]
    disk.storage.device.repair()
    log.write(batch)
    log.write(batch_of([(4, entry_of(4))]))
    assert zxids(disk) == [1, 2, 3, 4]


def test_a_full_disk_leaves_no_new_file_behind() -> None:
    disk, batch = new_disk(), batch_of([(2, entry_of(2))], rolls=True)
    log = TxnLog(disk, "/data", step_bytes=0)
    log.write(batch_of([(1, entry_of(1))]))
    disk.storage.device.fill()
    with pytest.raises(DiskFull):
        log.write(batch)
    assert disk.list_directory("/data") == ["log.1"]
    disk.storage.device.repair()
    log.write(batch)
    assert zxids(disk) == [1, 2]


def test_what_was_written_before_the_disk_was_full_is_not_written_again() -> None:
    disk, batch = new_disk(), Batch()
    log = TxnLog(disk, "/data", step_bytes=0)
    batch.append(1, entry_of(1))
    batch.roll()
    batch.append(2, entry_of(2, bytes(1000)))
    disk.storage.device.capacity_bytes = 500
    with pytest.raises(DiskFull):
        log.write(batch)
    disk.storage.device.repair()
    log.write(batch)
    assert zxids(disk) == [1, 2]


def test_room_for_the_entries_is_enough() -> None:
    disk = new_disk()
    disk.storage.device.capacity_bytes = 1000
    write_log(disk, [(1, entry_of(1))])
    assert zxids(disk) == [1]


@pytest.mark.parametrize("operation", ["write", "sync"])
def test_a_log_that_failed_is_not_trusted_again(operation: str) -> None:
    disk = new_disk()
    log = TxnLog(disk, "/data")
    log.write(batch_of([(1, entry_of(1))]))
    assert log.is_trusted
    disk.storage.device.fail("sync" if operation == "sync" else "write")
    batch = batch_of([(2, entry_of(2))])
    with pytest.raises(DiskBroken):
        log.write(batch)
    assert not log.is_trusted
    with pytest.raises(DiskBroken, match="cannot be trusted"):
        log.write(batch)


def test_after_a_full_disk_another_batch_would_leave_a_gap() -> None:
    disk = new_disk()
    log = TxnLog(disk, "/data")
    disk.storage.device.fill()
    with pytest.raises(DiskFull):
        log.write(batch_of([(1, entry_of(1))]))
    with pytest.raises(AssertionError):
        log.write(batch_of([(2, entry_of(2))]))


class Aside:
    """Notes what is left to the kernel, and does it when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[tuple[SimulatedFile, int, bytes, WrittenAside]] = []
        self.told: list[Exception | None] = []
        monkeypatch.setattr(SimulatedFile, "write_aside", self._begin)

    def _begin(self, position: int, data: bytes, done: WrittenAside) -> bool:
        self.begun.append((self.file, position, data, done))
        return True

    def follow(self, log: TxnLog) -> None:
        assert isinstance(log._file, SimulatedFile)
        self.file = log._file

    def finish(self, failure: Exception | None = None) -> None:
        file, position, data, done = self.begun.pop()
        done(failure or outcome_of(lambda: file.write_durably(position, data)))


def unheard(failure: Exception | None) -> None:
    pytest.fail("nothing was begun")


def log_of_one(disk: MortalDisk, aside: Aside, file_bytes_max: int | None = None) -> TxnLog:
    log = TxnLog(disk, "/data", step_bytes=STEP, file_bytes_max=file_bytes_max)
    log.write(batch_of([(1, entry_of(1))]))
    aside.follow(log)
    return log


def test_what_is_written_aside_counts_when_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    disk, aside = new_disk(), Aside(monkeypatch)
    log = log_of_one(disk, aside)
    assert log.write_aside(batch_of([(2, entry_of(2)), (3, entry_of(3))]), aside.told.append)
    assert not aside.told
    aside.finish()
    assert aside.told == [None]
    log.write(batch_of([(4, entry_of(4))]))
    assert zxids(disk) == [1, 2, 3, 4]


def test_a_batch_that_found_no_room_aside_may_be_written_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk, aside = new_disk(), Aside(monkeypatch)
    log, batch = log_of_one(disk, aside), batch_of([(2, entry_of(2))])
    assert log.write_aside(batch, aside.told.append)
    aside.finish(DiskFull("/data/log.1", "no room"))
    assert isinstance(aside.told[0], DiskFull)
    assert zxids(disk) == [1]
    log.write(batch)
    assert zxids(disk) == [1, 2]


def test_after_a_failure_aside_the_log_goes_on_neither_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk, aside = new_disk(), Aside(monkeypatch)
    log = log_of_one(disk, aside)
    disk.storage.device.fail("sync")
    assert log.write_aside(batch_of([(2, entry_of(2))]), aside.told.append)
    aside.finish()
    assert isinstance(aside.told[0], DiskBroken)
    assert not log.is_trusted
    assert not log.write_aside(batch_of([(3, entry_of(3))]), aside.told.append)


def test_only_a_mere_append_is_written_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    disk, aside = new_disk(), Aside(monkeypatch)
    two = batch_of([(2, entry_of(2))])
    assert not TxnLog(disk, "/data").write_aside(two, unheard), "there is no file yet"
    log = log_of_one(disk, aside)
    assert not log.write_aside(batch_of([(2, entry_of(2))], rolls=True), unheard)
    assert not log.write_aside(batch_of([(2, entry_of(2, bytes(STEP)))]), unheard)
    full = log_of_one(new_disk(), aside, file_bytes_max=10)
    assert not full.write_aside(batch_of([(2, entry_of(2))]), unheard)
    assert not aside.begun
