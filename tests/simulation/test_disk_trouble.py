"""What a disk does when it is full, broken, slow or owned by another."""

from __future__ import annotations

import pytest

from odradek.runtime.disk import DirectoryLocked, DiskBroken, DiskFull
from tests.simulation.storages import LooseStorage, content, make_file

SEEDS = range(200)


def test_after_a_failed_sync_a_retry_lies() -> None:
    after = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"")
        file = host.disk().open("/file")
        file.append(b"lost")
        host.storage.device.fail("sync")
        with pytest.raises(DiskBroken):
            file.sync()
        file.append(b"kept")
        file.sync()
        assert content(host.disk()) == b"lostkept"
        after.add(content(host.lose_power()))
    assert after == {b"\0\0\0\0kept", b"lostkept"}


def test_a_full_disk_takes_nothing_until_there_is_room() -> None:
    host = LooseStorage()
    disk = host.disk()
    make_file(disk, b"0123456789")
    host.storage.device.capacity_bytes = 15
    assert disk.free_bytes("/") == 5
    file = disk.open("/file")
    with pytest.raises(DiskFull):
        file.append(b"123456")
    with pytest.raises(DiskFull):
        file.preallocate(16)
    assert content(disk) == b"0123456789"
    file.write(5, b"overwritten"[:10])
    file.truncate(5)
    assert disk.free_bytes("/") == 10
    disk.remove("/file")
    assert disk.free_bytes("/") == 15


def test_a_broken_disk_fails_what_it_was_told_to() -> None:
    host = LooseStorage()
    disk = host.disk()
    make_file(disk, b"safe")
    device = host.storage.device
    file = disk.open("/file")
    device.fail("read", under="/elsewhere")
    assert file.pread(0, 4) == b"safe"
    device.fail("read")
    with pytest.raises(DiskBroken):
        file.pread(0, 4)
    device.fail("write", count=2)
    for _ in range(2):
        with pytest.raises(DiskBroken):
            file.append(b"x")
    assert file.size() == 4
    device.fail("sync")
    with pytest.raises(DiskBroken):
        disk.sync_directory("/")


def test_a_write_that_fails_may_have_replaced_a_part() -> None:
    after = set()
    for seed in SEEDS:
        host = LooseStorage(seed)
        make_file(host.disk(), b"____")
        host.storage.device.fail("write")
        with pytest.raises(DiskBroken):
            host.disk().open("/file").write(2, b"xyz")
        after.add(content(host.disk()))
    assert after == {b"____", b"__x_", b"__xy"}


def test_a_flipped_bit_is_read_as_it_is() -> None:
    host = LooseStorage()
    make_file(host.disk(), bytes(100))
    host.storage.flip_bit("/file")
    assert sum(byte.bit_count() for byte in content(host.disk())) == 1
    assert sum(byte.bit_count() for byte in content(host.lose_power())) == 1


def test_waiting_for_the_device_takes_time() -> None:
    host = LooseStorage()
    disk = host.disk()
    make_file(disk, b"x")
    assert len(host.spent_ns) == 2
    assert all(200_000 <= spent_ns <= 2_000_000 for spent_ns in host.spent_ns)
    host.storage.device.slowness = 1000
    disk.sync_directory("/")
    assert host.spent_ns[-1] >= 200_000_000


def test_after_a_loss_of_power_memory_is_cold() -> None:
    host = LooseStorage()
    make_file(host.disk(), b"x")
    file = host.lose_power().open("/file")
    host.spent_ns.clear()
    assert file.pread_cached(0, 1) is None
    assert file.pread(0, 1) == b"x"
    assert len(host.spent_ns) == 1


def test_a_lock_dies_with_its_process_and_not_with_another() -> None:
    host = LooseStorage()
    one, other = host.disk(), host.disk()
    dead_lock = one.lock_directory("/")
    with pytest.raises(DirectoryLocked):
        other.lock_directory("/")
    one.die()
    other.lock_directory("/")
    dead_lock.release()
    with pytest.raises(DirectoryLocked):
        host.disk().lock_directory("/")


def test_zeros_at_the_end_cost_nothing() -> None:
    host = LooseStorage()
    disk = host.disk()
    make_file(disk, b"x")
    file = disk.open("/file")
    file.preallocate(1 << 39)
    assert file.pread((1 << 39) - 2, 10) == b"\0\0"
