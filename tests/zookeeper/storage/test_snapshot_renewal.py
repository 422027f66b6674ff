"""Snapshots that take over from the last: the same bytes as if all were encoded, and no damage."""

from __future__ import annotations

from collections.abc import Sequence
from zlib import adler32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.state.sheets import Kept
from odradek.zookeeper.storage.checksums import combined
from odradek.zookeeper.storage.log_reader import LogEntry
from odradek.zookeeper.storage.names import StoredFile
from odradek.zookeeper.storage.replay import Replay
from odradek.zookeeper.storage.snapshot_file import COPY_BYTES, NotAsWritten, SnapshotFile
from odradek.zookeeper.storage.snapshot_reader import read_snapshot
from odradek.zookeeper.storage.snapshot_renewal import Renewal, gathered
from odradek.zookeeper.storage.snapshot_slices import ALL_PARTS, SLICE_BYTES, snapshot_slices
from tests.zookeeper.storage.disks import MortalDisk, get_file, new_disk, put_file
from tests.zookeeper.storage.histories import History, Step, any_steps, portrait

FEW: list[Step] = [("create", "/a", 3), ("create", "/a/b", 2), ("create", "/e", 1)]


def renew(disk: MortalDisk, history: History, meanwhile: Sequence[Step] = ()) -> tuple[str, int]:
    """Take a snapshot, during which something happens; its path, and how much was copied."""
    zxid, copied, steps = history.tree.last_zxid, 0, list(meanwhile)
    renewal = Renewal(history.tree, history.timeouts, ALL_PARTS, f"/data/snapshot.{zxid:x}")
    file = SnapshotFile(disk, "/data", zxid)
    for piece in renewal.pieces():
        if isinstance(piece, bytes):
            file.write(piece)
        else:
            file.copy(piece)
            copied += sum(kept.size for kept in piece)
        if steps:
            history.take(steps.pop(0))
    file.finish()
    renewal.finished()
    return file.path, copied


ROUNDS = st.lists(any_steps(max_size=8), min_size=1, max_size=6)


@given(ROUNDS)
def test_it_has_the_bytes_of_one_that_was_made_anew(rounds: list[list[Step]]) -> None:
    disk, history = new_disk(), History()
    for steps in rounds:
        for step in steps:
            history.take(step)
        path, _ = renew(disk, history)
        assert get_file(disk, path) == b"".join(snapshot_slices(history.tree, history.timeouts))


@given(st.lists(st.tuples(any_steps(max_size=6), any_steps(max_size=6)), min_size=1, max_size=5))
def test_with_the_log_behind_it_it_is_the_tree_whatever_happened_meanwhile(
    rounds: list[tuple[list[Step], list[Step]]],
) -> None:
    disk, history = new_disk(), History()
    for before, meanwhile in rounds:
        for step in before:
            history.take(step)
        zxid = history.tree.last_zxid
        path, _ = renew(disk, history, meanwhile)
        snapshot = read_snapshot(disk, StoredFile(zxid, path))
        replay = Replay(snapshot, checks_digests=True)
        replay.run(LogEntry(number, each, "", 0) for number, each in enumerate(history.entries, 1))
        assert portrait(snapshot.tree) == portrait(history.tree)
        assert replay.warnings == []


def test_only_what_has_changed_is_encoded_again() -> None:
    disk, history = new_disk(), History(FEW)
    assert renew(disk, history)[1] == 0
    history.take(("create", "/e/f", 3))  # On a sheet of its own; /e is on the first.
    assert renew(disk, history)[1] == 0
    history.take(("set data", "/e/f", 2))
    path, copied = renew(disk, history)
    assert copied > len(get_file(disk, path)) // 2
    history.take(("refused", "/", 0))
    path, all_copied = renew(disk, history)
    assert all_copied > copied


def test_an_acl_that_was_set_meanwhile_is_there_the_next_time() -> None:
    disk, history = new_disk(), History(FEW)
    renew(disk, history, [("set acl", "/a", 2)])
    path, _ = renew(disk, history)
    snapshot = read_snapshot(disk, StoredFile(history.tree.last_zxid, path))
    assert snapshot.tree.nodes["/a"].acl == history.tree.nodes["/a"].acl


def test_damage_is_seen_and_not_taken_over() -> None:
    disk, history = new_disk(), History(FEW)
    path, _ = renew(disk, history)
    whole = bytearray(get_file(disk, path))
    whole[whole.index(b"/a") + 30] ^= 1
    put_file(disk, path, bytes(whole))
    history.take(("refused", "/", 0))
    with pytest.raises(NotAsWritten, match="are others"):
        renew(disk, history)


def test_a_snapshot_that_was_cut_off_or_is_gone_is_seen_too() -> None:
    disk, history = new_disk(), History(FEW)
    path, _ = renew(disk, history)
    put_file(disk, path, get_file(disk, path)[:60])
    history.take(("refused", "/", 0))
    with pytest.raises(NotAsWritten, match="are others"):
        renew(disk, history)
    disk.remove(path)
    with pytest.raises(NotAsWritten, match="it cannot be opened"):
        renew(disk, history)


def test_a_snapshot_that_cannot_be_read_is_seen_too() -> None:
    disk, history = new_disk(), History(FEW)
    path, _ = renew(disk, history)
    history.take(("refused", "/", 0))
    disk.storage.device.fail("read", under=path)
    with pytest.raises(NotAsWritten, match="it cannot be read"):
        renew(disk, history)
    history.tree.sheets.forget_kept()
    path, copied = renew(disk, history)
    assert copied == 0
    assert get_file(disk, path) == b"".join(snapshot_slices(history.tree, history.timeouts))


def test_what_was_never_finished_is_not_taken_over() -> None:
    disk, history = new_disk(), History(FEW)
    renewal = Renewal(history.tree, {}, ALL_PARTS, "/data/snapshot.3")
    list(renewal.pieces())
    assert renew(disk, history)[1] == 0


@given(st.binary(max_size=9000), st.binary(max_size=9000))
def test_checksums_are_combined_as_if_the_bytes_were(first: bytes, second: bytes) -> None:
    together = combined(adler32(first), adler32(second), len(second))
    assert together == adler32(first + second)


def test_checksums_of_very_many_bytes_are_combined_too() -> None:
    first, second = b"\xff" * 100_000, b"\xfe" * 5_000_000
    assert combined(adler32(first), adler32(second), len(second)) == adler32(first + second)


def test_neighbours_are_gathered_until_they_are_worth_a_call() -> None:
    half, copy = bytes(SLICE_BYTES // 2), Kept("", 0, COPY_BYTES // 2, 1)
    each: list[bytes | Kept] = [b"a", b"b", copy, copy, copy, half, half, half]
    assert list(gathered(each)) == [b"ab", [copy, copy], [copy], half + half, half]
