"""A server's state from its files: all of it, or a refusal that says why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.errors import (
    CorruptLog,
    CorruptSnapshot,
    MissingSnapshot,
)
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.recover import Recovered, recover
from odradek.zookeeper.storage.snapshot_file import SnapshotFile, write_snapshot
from odradek.zookeeper.storage.snapshot_slices import body_slices, snapshot_slices
from odradek.zookeeper.storage.snapshot_stream import SIGNATURE, SnapshotStream
from tests.zookeeper.storage.disks import MortalDisk, get_file, new_disk, new_storage, put_file
from tests.zookeeper.storage.histories import History, Step, any_steps, portrait
from tests.zookeeper.storage.logs import entry_of, write_log
from tests.zookeeper.wire.golden import golden_bytes

CREATES: list[Step] = [("create", path, 2) for path in ("/a", "/a/b", "/a/b/c", "/e")]


def recovered(disk: MortalDisk, *, trusts_empty: bool = False, is_odd: bool = False) -> Recovered:
    found = recover(disk, "/data", "/data", trusts_empty=trusts_empty)
    assert bool(found.warnings) == is_odd
    return found


def numbered(entries: list[bytes], first_zxid: int = 1) -> list[tuple[int, bytes]]:
    return list(enumerate(entries, first_zxid))


def store(disk: MortalDisk, history: History) -> None:
    """The first snapshot, and all of the log."""
    write_snapshot(disk, "/data", History().tree, {})
    write_log(disk, numbered(history.entries), step_bytes=8192)


def test_an_empty_directory_is_a_new_server() -> None:
    disk = new_disk()
    state = recovered(disk)
    assert portrait(state.tree) == portrait(History().tree)
    assert state.notes == [
        "replayed 0 transactions, up to 0x0",
        "wrote /data/snapshot.0, as there was none",
    ]
    assert get_file(disk, "/data/snapshot.0") == golden_bytes("snapshot.0")


def test_the_log_of_a_real_server_is_replayed_to_its_digests() -> None:
    disk = new_disk()
    put_file(disk, "/data/snapshot.0", golden_bytes("snapshot.0"))
    put_file(disk, "/data/log.1", golden_bytes("log.1"))
    state = recovered(disk)
    assert state.last_zxid == 12
    assert state.timeouts == {0x100000A8EF00000: 18000}
    assert "/admin/delete_topics" in state.tree.nodes
    assert state.notes == [
        "read /data/snapshot.0: 5 znodes",
        "replayed 12 transactions, up to 0xc",
    ]


@given(any_steps())
def test_any_history_is_replayed_to_the_same_tree_and_sessions(steps: list[Step]) -> None:
    disk, history = new_disk(), History(steps)
    store(disk, history)
    state = recovered(disk)
    assert portrait(state.tree) == portrait(history.tree)
    assert state.timeouts == history.timeouts


@given(any_steps(), st.data())
def test_a_snapshot_taken_while_the_tree_changes_recovers_to_the_same_tree(
    steps: list[Step], data: st.DataObject
) -> None:
    disk, history = new_disk(), History()
    start = data.draw(st.integers(0, len(steps)))
    for step in steps[:start]:
        history.take(step)
    slices = snapshot_slices(history.tree, history.timeouts, slice_nodes=1)
    file = SnapshotFile(disk, "/data", history.tree.last_zxid)
    file.write(next(slices))
    for step in steps[start:]:
        for _ in range(data.draw(st.integers(0, 3))):
            file.write(next(slices, b""))
        history.take(step)
    for chunk in slices:
        file.write(chunk)
    file.finish()
    write_log(disk, numbered(history.entries), step_bytes=8192)
    state = recovered(disk)
    assert portrait(state.tree) == portrait(history.tree)
    assert state.timeouts == history.timeouts


def test_the_newest_snapshot_that_is_whole_is_taken() -> None:
    disk, history = new_disk(), History()
    for step in CREATES:
        history.take(step)
        write_snapshot(disk, "/data", history.tree, {})
    write_log(disk, numbered(history.entries))
    for zxid in (3, 4):
        path = f"/data/snapshot.{zxid}"
        put_file(disk, path, get_file(disk, path)[:-1])
    state = recovered(disk)
    assert portrait(state.tree) == portrait(history.tree)
    assert state.notes == [
        "passed over /data/snapshot.4: 53 bytes follow the tree",
        "passed over /data/snapshot.3: 53 bytes follow the tree",
        "read /data/snapshot.2: 7 znodes",
        "replayed 2 transactions, up to 0x4",
    ]


def test_snapshots_of_which_none_is_whole_are_refused() -> None:
    disk = new_disk()
    put_file(disk, "/data/snapshot.7", b"half")
    with pytest.raises(CorruptSnapshot, match=r"/data/snapshot\.7: it is cut off"):
        recovered(disk)


def test_half_a_first_snapshot_is_as_good_as_none() -> None:
    disk = new_disk()
    put_file(disk, "/data/snapshot.0", golden_bytes("snapshot.0")[:100])
    assert portrait(recovered(disk).tree) == portrait(History().tree)
    assert get_file(disk, "/data/snapshot.0") == golden_bytes("snapshot.0")


def test_transactions_without_a_snapshot_are_refused_unless_that_is_trusted() -> None:
    disk, history = new_disk(), History(CREATES)
    write_log(disk, numbered(history.entries))
    with pytest.raises(MissingSnapshot, match=r"/data/log\.1: .*snapshot\.trust\.empty"):
        recovered(disk)
    state = recovered(disk, trusts_empty=True)
    assert portrait(state.tree) == portrait(history.tree)
    assert state.notes[-1] == "wrote /data/snapshot.4, as there was none"


def test_a_torn_end_is_cut_off_so_that_the_next_server_reads_the_same() -> None:
    disk, history = new_disk(), History(CREATES)
    store(disk, history)
    *_, before, last = read_log(disk, "/data", 0)
    whole = bytearray(get_file(disk, "/data/log.1"))
    whole[last.end - 2 : last.end] = bytes(2)
    put_file(disk, "/data/log.1", bytes(whole))
    expected = portrait(History(CREATES[:-1]).tree)
    assert portrait(recovered(disk).tree) == expected
    assert disk.open("/data/log.1").size() == before.end
    write_log(disk, [(4, history.entries[3])])
    assert portrait(recovered(disk).tree) == portrait(history.tree)


def test_what_a_killed_server_never_synced_is_safe_once_it_was_read() -> None:
    """Otherwise a member would count as one that holds it, and a loss of power would take it."""
    for seed in range(20):
        storage = new_storage(seed)
        disk, history = MortalDisk(storage), History(CREATES)
        disk.make_directories("/data")
        write_snapshot(disk, "/data", History().tree, {})
        disk.sync_directory("/")
        write_log(disk, numbered(history.entries), is_synced=False)
        assert portrait(recovered(disk).tree) == portrait(history.tree)
        storage.crash()
        assert portrait(recovered(MortalDisk(storage)).tree) == portrait(history.tree)


def test_a_transaction_that_is_missing_is_seen_by_the_digest_of_the_next() -> None:
    disk, history = new_disk(), History(CREATES)
    write_snapshot(disk, "/data", History().tree, {})
    write_log(disk, numbered(history.entries[:2]), numbered(history.entries[3:], 4))
    (warning,) = recovered(disk, is_odd=True).warnings
    assert warning.startswith("/data/log.4: the tree at zxid 0x4 has digest")
    assert recover(disk, "/data", "/data", checks_digests=False).warnings == []


def test_a_snapshot_that_is_not_what_it_says_is_seen_by_its_digest() -> None:
    disk, history = new_disk(), History(CREATES)
    history.tree.digest ^= 1
    write_snapshot(disk, "/data", history.tree, {})
    (warning,) = recovered(disk, is_odd=True).warnings
    assert warning.startswith("/data/snapshot.4: the tree at zxid 0x4")


def received(history: History, *later: Step) -> Tree:
    """The tree that a learner gets from a leader who does this while it is being sent."""
    slices = body_slices(history.tree, {})
    zxid = history.tree.last_zxid
    incoming = SnapshotStream()
    incoming.feed(next(slices))
    for step in later:
        history.take(step)
    incoming.feed(b"".join(slices) + SIGNATURE)
    incoming.tree.last_zxid = zxid
    return incoming.tree


def test_a_tree_that_changed_while_a_leader_sent_it_is_brought_to_the_truth_without_a_warning() -> (
    None
):
    disk, history = new_disk(), History(CREATES)
    tree = received(history, ("set data", "/e", 1), ("set data", "/a", 3))
    assert tree.digest not in (History(CREATES).tree.digest, History(history.steps[:5]).tree.digest)
    write_snapshot(disk, "/data", tree, {})
    write_log(disk, numbered(history.entries[4:], 5))
    state = recovered(disk)
    assert portrait(state.tree) == portrait(history.tree)
    assert not state.tree.is_fuzzy


def test_it_stays_fuzzy_while_the_log_lacks_what_it_has() -> None:
    disk, history = new_disk(), History(CREATES)
    tree = received(history, ("set data", "/e", 1), ("set data", "/a", 3))
    write_snapshot(disk, "/data", tree, {})
    write_log(disk, numbered(history.entries[4:5], 5))
    assert recovered(disk).tree.is_fuzzy


def test_once_it_is_true_a_transaction_that_is_missing_is_seen() -> None:
    disk, history = new_disk(), History(CREATES)
    write_snapshot(disk, "/data", received(history, ("set data", "/a", 3)), {})
    for path in ("/e", "/a/b", "/e"):
        history.take(("set data", path, 1))
    entries = numbered(history.entries, 1)
    write_log(disk, entries[4:6], entries[7:])
    (warning,) = recovered(disk, is_odd=True).warnings
    assert warning.startswith("/data/log.8: the tree at zxid 0x8 has digest")


def test_a_log_that_ends_before_its_snapshot_did_is_noted() -> None:
    disk, history = new_disk(), History(CREATES[:2])
    slices = snapshot_slices(history.tree, {})
    file = SnapshotFile(disk, "/data", 2)
    history.take(CREATES[2])
    for chunk in slices:
        file.write(chunk)
    file.finish()
    assert recovered(disk).notes[-1] == "the log ends before 0x3, where the snapshot did"


def test_an_unknown_transaction_is_refused_by_its_position() -> None:
    disk = new_disk()
    write_snapshot(disk, "/data", History().tree, {})
    unknown = entry_of(1)[:-4] + (99).to_bytes(4)
    write_log(disk, [(1, unknown)])
    with pytest.raises(CorruptLog, match="at byte 16: an unknown transaction"):
        recovered(disk)


def test_sessions_come_and_go_with_their_ephemerals() -> None:
    disk = new_disk()
    history = History([("open session", "", 1), ("open session", "", 2), ("ephemeral", "/a", 1)])
    history.take(("close session", "", 1))
    store(disk, history)
    state = recovered(disk)
    assert state.timeouts == {2: 1002}
    assert "/a" not in state.tree.nodes


def test_what_was_half_written_is_removed() -> None:
    disk = new_disk()
    put_file(disk, "/data/unfinished.snapshot.7", b"half")
    assert recovered(disk).notes[0] == "removed /data/unfinished.snapshot.7"
    assert disk.list_directory("/data") == ["snapshot.0"]
