"""Crashes at every call to the disk: what was promised is there, the rest is whole or absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from odradek.runtime.disk import Disk, DiskFull
from odradek.simulation.disk.storage import Storage
from odradek.simulation.errors import Killed
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.purge import purge
from odradek.zookeeper.storage.recover import recover
from odradek.zookeeper.storage.snapshot_file import SnapshotFile
from odradek.zookeeper.storage.snapshot_slices import snapshot_slices
from odradek.zookeeper.storage.txnlog import TxnLog
from tests.zookeeper.storage.disks import MortalDisk, new_storage
from tests.zookeeper.storage.histories import History, Step, portrait
from tests.zookeeper.storage.logs import batch_of

STEPS: list[Step] = [
    *[("open session", "", 1), ("create", "/a", 3), ("ephemeral", "/a/b", 1)],
    *[("create", "/e", 2), ("set data", "/a", 3), ("ttl", "/e/f", 2), ("refused", "", 0)],
    *[("set acl", "/e", 3), ("multi", "/a/d", 3), ("close session", "", 1)],
    *[("delete", "/e/f", 0), ("container", "/e/f", 3), ("set data", "/e/f", 3)],
]
BATCHES = [STEPS[:1], STEPS[1:5], STEPS[5:7], STEPS[7:12], STEPS[12:]]
SNAPSHOT_AFTER = 2  # Batches; then the log rolls as well.
STEP_BYTES = 2048
SEEDS = range(3)


class Server:
    """The life of one process: start, log some batches, take a snapshot between two of them."""

    def __init__(self) -> None:
        self.history = History()
        self.synced_zxid = -1  # Not even started.

    def live(self, disk: Disk) -> None:
        directories = Directories.open(disk, "/data")
        recover(disk, directories.snapshots, directories.logs)
        self.synced_zxid = 0
        log = TxnLog(disk, directories.logs, step_bytes=STEP_BYTES)
        for steps in BATCHES[:SNAPSHOT_AFTER]:
            self._log(log, steps)
        slices = snapshot_slices(self.history.tree, self.history.timeouts, slice_nodes=1)
        file = SnapshotFile(disk, directories.snapshots, self.history.tree.last_zxid)
        file.write(next(slices))
        self._log(log, BATCHES[SNAPSHOT_AFTER], rolls=True)
        write_rest(file, slices)
        for steps in BATCHES[SNAPSHOT_AFTER + 1 :]:
            self._log(log, steps)
        log.close()
        directories.release()

    def _log(self, log: TxnLog, steps: list[Step], *, rolls: bool = False) -> None:
        first_zxid = self.history.tree.last_zxid + 1
        entries = [self.history.take(step) for step in steps]
        batch = batch_of(enumerate(entries, first_zxid), rolls=rolls)
        log.write(batch)
        self.synced_zxid = batch.last_zxid


def write_rest(file: SnapshotFile, slices: Iterator[bytes]) -> None:
    for chunk in slices:
        file.write(chunk)
    file.finish()


def calls_of_a_life() -> int:
    disk = MortalDisk(new_storage())
    Server().live(disk)
    return disk.calls


def check_recovery(storage: Storage, server: Server) -> None:
    disk = MortalDisk(storage)
    directories = Directories.open(disk, "/data")
    state = recover(disk, directories.snapshots, directories.logs)
    assert server.synced_zxid <= state.last_zxid <= server.history.tree.last_zxid
    expected = History(server.history.steps[: state.last_zxid])
    assert portrait(state.tree) == portrait(expected.tree)
    assert state.timeouts == expected.timeouts
    directories.release()


@pytest.mark.parametrize("loses_power", [True, False], ids=["power", "process"])
def test_a_crash_at_any_call_loses_nothing_that_was_synced(loses_power: bool) -> None:
    for calls_max in range(calls_of_a_life()):
        for seed in SEEDS:
            storage, server = new_storage(seed), Server()
            with pytest.raises(Killed):
                server.live(MortalDisk(storage, calls_max))
            if loses_power:
                storage.crash()
            check_recovery(storage, server)


def test_a_crash_while_recovering_from_a_crash_loses_nothing_either() -> None:
    life = calls_of_a_life()
    for calls_max in range(life // 2, life, 7):
        for second_calls_max in range(0, 60, 4):
            storage, server = new_storage(calls_max), Server()
            with pytest.raises(Killed):
                server.live(MortalDisk(storage, calls_max))
            storage.crash()
            with suppress(Killed):
                again = MortalDisk(storage, second_calls_max)
                directories = Directories.open(again, "/data")
                recover(again, directories.snapshots, directories.logs)
            storage.crash()
            check_recovery(storage, server)


def test_a_full_disk_at_any_size_loses_nothing_that_was_synced() -> None:
    sound = MortalDisk(new_storage())
    Server().live(sound)
    for capacity_bytes in range(0, sound.storage.device.used_bytes, 97):
        storage, server = new_storage(), Server()
        storage.device.capacity_bytes = capacity_bytes
        disk = MortalDisk(storage)
        with suppress(DiskFull):  # Room for the entries is enough, if there is none for zeros.
            server.live(disk)
        disk.die()
        storage.device.repair()
        check_recovery(storage, server)


def test_a_crash_while_purging_leaves_what_is_needed() -> None:
    for calls_max in range(60):
        storage, server = new_storage(calls_max), Server()
        disk = MortalDisk(storage)
        server.live(disk)
        add_snapshots(disk, server.history, count=4)
        disk.die()
        with suppress(Killed):
            purge(MortalDisk(storage, calls_max), "/data/version-2", "/data/version-2", 3)
        storage.crash()
        check_recovery(storage, server)


def add_snapshots(disk: Disk, history: History, count: int) -> None:
    log = TxnLog(disk, "/data/version-2", step_bytes=STEP_BYTES)
    for number in range(count):
        entry = history.take(("open session", "", number))
        log.write(batch_of([(history.tree.last_zxid, entry)], rolls=True))
        slices = snapshot_slices(history.tree, history.timeouts)
        write_rest(SnapshotFile(disk, "/data/version-2", history.tree.last_zxid), slices)
    log.close()
