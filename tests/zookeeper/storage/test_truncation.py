"""Going back: what is left is what a server would have that never logged the rest."""

from __future__ import annotations

import pytest

from odradek.runtime.durable import make_durable_directories
from odradek.simulation.disk.disk import SimulatedDisk
from odradek.simulation.errors import Killed
from odradek.zookeeper.storage.errors import StorageError
from odradek.zookeeper.storage.names import snapshot_files
from odradek.zookeeper.storage.recover import recover
from odradek.zookeeper.storage.snapshot_file import write_snapshot
from odradek.zookeeper.storage.truncation import go_back
from odradek.zookeeper.storage.txnlog import TxnLog
from tests.zookeeper.storage.disks import MortalDisk, new_disk, new_storage
from tests.zookeeper.storage.histories import History, portrait
from tests.zookeeper.storage.logs import batch_of, zxids

STEPS = [("create", f"/{name}", 1) for name in ("a", "e")] + [
    ("set data", "/a", number % 4) for number in range(8)
]


def store(disk: SimulatedDisk, *snapshots_at: int) -> History:
    """A log in two files, and snapshots of the state at these zxids."""
    history = History(STEPS)
    entries = list(enumerate(history.entries, 1))
    log = TxnLog(disk, "/data", step_bytes=0)
    log.write(batch_of(entries[:5], rolls=True))
    log.write(batch_of(entries[5:], rolls=True))
    log.close()
    for zxid in snapshots_at:
        past = History(STEPS[:zxid])
        write_snapshot(disk, "/data", past.tree, past.timeouts)
    return history


@pytest.mark.parametrize("zxid", range(11))
def test_all_behind_a_zxid_is_gone_from_log_snapshots_and_state(zxid: int) -> None:
    disk = new_disk()
    store(disk, 0, 4, 7)
    go_back(disk, "/data", "/data", zxid)
    assert [it for it in zxids(disk) if it > zxid] == []
    assert all(it.zxid <= zxid for it in snapshot_files(disk, "/data"))
    found = recover(disk, "/data", "/data")
    assert found.last_zxid == zxid
    assert portrait(found.tree) == portrait(History(STEPS[:zxid]).tree)


def test_without_an_older_snapshot_there_is_no_way_back() -> None:
    disk = new_disk()
    store(disk, 7)
    with pytest.raises(StorageError, match="0x3"):
        go_back(disk, "/data", "/data", 3)
    assert recover(disk, "/data", "/data").last_zxid == 10


def test_a_crash_on_the_way_back_leaves_a_prefix_that_can_go_back_again() -> None:
    calls = 1
    while True:
        storage = new_storage(calls)
        disk = MortalDisk(storage)
        make_durable_directories(disk, "/data")
        store(disk, 0, 4, 7)
        mortal = MortalDisk(storage, calls)
        try:
            go_back(mortal, "/data", "/data", 3)
            break
        except Killed:
            storage.crash()
        disk = MortalDisk(storage)
        found = recover(disk, "/data", "/data")
        assert portrait(found.tree) == portrait(History(STEPS[: found.last_zxid]).tree)
        assert found.last_zxid >= 3
        go_back(disk, "/data", "/data", 3)
        assert recover(disk, "/data", "/data").last_zxid == 3
        calls += 1
    assert calls > 5
