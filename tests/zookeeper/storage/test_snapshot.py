"""Snapshots: the original's bytes, any tree there and back, and no changed bit believed."""

from __future__ import annotations

from zlib import adler32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.runtime.disk import DiskFull
from odradek.zookeeper.state.quota import limits_path, stats_path
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.errors import CorruptSnapshot
from odradek.zookeeper.storage.names import StoredFile, snapshot_files
from odradek.zookeeper.storage.snapshot_file import (
    SnapshotFile,
    remove_unfinished,
    write_snapshot,
)
from odradek.zookeeper.storage.snapshot_reader import Snapshot, read_snapshot
from odradek.zookeeper.storage.snapshot_slices import SnapshotFormat, snapshot_slices
from odradek.zookeeper.storage.snapshot_source import CHUNK_BYTES
from tests.zookeeper.storage.disks import MortalDisk, get_file, new_disk, put_file
from tests.zookeeper.storage.histories import History, Step, any_steps, portrait
from tests.zookeeper.wire.golden import golden_bytes
from tests.zookeeper.wire.snapshots import read_snapshot as take_apart

FORMATS = st.builds(SnapshotFormat, has_digest=st.booleans(), has_last_zxid=st.booleans())
COMPRESSIONS = st.sampled_from(["", "gz", "snappy"])


def read_only_snapshot(disk: MortalDisk) -> Snapshot:
    (stored,) = snapshot_files(disk, "/data")
    return read_snapshot(disk, stored)


def read_bytes(data: bytes, zxid: int) -> Snapshot:
    disk = new_disk()
    put_file(disk, f"/data/snapshot.{zxid:x}", data)
    return read_only_snapshot(disk)


def test_a_fresh_tree_is_written_to_the_bytes_of_a_fresh_server() -> None:
    assert b"".join(snapshot_slices(Tree.fresh(), {})) == golden_bytes("snapshot.0")


def test_a_fresh_server_s_snapshot_is_a_fresh_tree() -> None:
    snapshot = read_bytes(golden_bytes("snapshot.0"), zxid=0)
    assert portrait(snapshot.tree) == portrait(Tree.fresh())
    assert snapshot.digest is None


def test_a_real_snapshot_has_the_digest_that_it_says() -> None:
    snapshot = read_bytes(golden_bytes("snapshot.83"), zxid=0x83)
    assert len(snapshot.tree) == 84
    assert snapshot.digest is not None
    assert (snapshot.digest.zxid, snapshot.digest.value) == (0x83, snapshot.tree.digest)


def test_a_real_snapshot_is_written_again_with_the_same_nodes_and_sealed_anew() -> None:
    golden = golden_bytes("snapshot.83")
    snapshot = read_bytes(golden, zxid=0x83)
    written = b"".join(snapshot_slices(snapshot.tree, snapshot.timeouts))
    ours, theirs = take_apart(written), take_apart(golden)
    assert ours.header == theirs.header
    assert ours.sealed == theirs.sealed
    # Theirs has an id of its own for the open ACL, ours always means it by -1.
    assert [(path, node.data, node.stat) for path, node in ours.nodes] == [
        (path, node.data, node.stat) for path, node in theirs.nodes
    ]
    assert portrait(read_bytes(written, zxid=0x83).tree) == portrait(snapshot.tree)


@given(
    any_steps(), st.dictionaries(st.integers(1, 9), st.integers(1, 90_000)), FORMATS, COMPRESSIONS
)
def test_any_tree_is_read_as_it_was_written(
    steps: list[Step], timeouts: dict[int, int], parts: SnapshotFormat, compression: str
) -> None:
    disk, tree = new_disk(), History(steps).tree
    write_snapshot(disk, "/data", tree, timeouts, parts, compression)
    snapshot = read_only_snapshot(disk)
    assert portrait(snapshot.tree) == portrait(tree)
    assert snapshot.timeouts == timeouts
    assert (snapshot.digest is not None) == (parts.has_digest and tree.last_zxid > 0)


@pytest.mark.parametrize("compression", ["", "gz", "snappy"])
def test_a_node_may_be_longer_than_what_is_read_at_once(compression: str) -> None:
    disk, history = new_disk(), History([("create", "/a", 2), ("create", "/a/b", 2)])
    history.tree.nodes["/a"].data = bytes(range(256)) * (CHUNK_BYTES // 100)
    write_snapshot(disk, "/data", history.tree, {}, compression=compression)
    snapshot = read_only_snapshot(disk)
    assert snapshot.tree.nodes["/a"].data == history.tree.nodes["/a"].data
    assert list(snapshot.tree.nodes) == list(history.tree.nodes)


@given(st.integers(0, len(golden_bytes("snapshot.83")) - 1), st.integers(0, 7))
def test_a_flipped_bit_is_seen(position: int, bit: int) -> None:
    data = bytearray(golden_bytes("snapshot.83"))
    data[position] ^= 1 << bit
    with pytest.raises(CorruptSnapshot):
        read_bytes(bytes(data), zxid=0x83)


def ends_of_seals(data: bytes) -> list[int]:
    return [
        at + 13
        for at in range(len(data) - 12)
        if data[at : at + 13] == adler32(data[:at]).to_bytes(8) + b"\0\0\0\1/"
    ]


def test_a_snapshot_may_end_after_any_seal_and_nowhere_else() -> None:
    data = golden_bytes("snapshot.0")
    ends = ends_of_seals(data)
    assert len(ends) == 3
    for size in range(len(data) + 1):
        if size in ends:
            assert len(read_bytes(data[:size], zxid=0).tree) == 5
        else:
            with pytest.raises(CorruptSnapshot):
                read_bytes(data[:size], zxid=0)


@pytest.mark.parametrize("compression", ["gz", "snappy"])
def test_a_compressed_snapshot_that_is_cut_off_is_refused(compression: str) -> None:
    disk = new_disk()
    path = write_snapshot(
        disk, "/data", History([("create", "/a", 3)]).tree, {}, compression=compression
    )
    whole = get_file(disk, path)
    for size in range(len(whole)):
        put_file(disk, path, whole[:size])
        with pytest.raises(CorruptSnapshot):
            read_only_snapshot(disk)


@given(st.binary(max_size=300), st.sampled_from(["1", "1.gz", "1.snappy"]))
def test_garbage_is_refused(data: bytes, ending: str) -> None:
    disk = new_disk()
    put_file(disk, f"/data/snapshot.{ending}", data)
    with pytest.raises(CorruptSnapshot):
        read_only_snapshot(disk)


def test_a_snapshot_without_a_root_is_refused() -> None:
    start = golden_bytes("snapshot.0")[:16] + bytes(8) + b"\0\0\0\1/"
    with pytest.raises(CorruptSnapshot, match="it has no root"):
        read_bytes(start + adler32(start).to_bytes(8) + b"\0\0\0\1/", zxid=0)


def test_a_digest_from_before_the_snapshot_says_nothing() -> None:
    snapshot = read_bytes(golden_bytes("snapshot.83"), zxid=0x100000000)
    assert snapshot.digest is None


def test_an_acl_that_the_map_lacks_allows_nothing() -> None:
    data = bytearray(golden_bytes("snapshot.0"))
    config = data.index(b"/zookeeper/config") + len(b"/zookeeper/config") + 4
    data[config : config + 8] = (9).to_bytes(8)
    end = data.index(b"\0\0\0\1/") + 5
    whole = bytes(data[:end]) + adler32(data[:end]).to_bytes(8) + b"\0\0\0\1/"
    (acl,) = read_bytes(whole, zxid=0).tree.nodes["/zookeeper/config"].acl
    assert acl.perms == 0


def test_what_a_quota_covers_is_counted_when_it_is_read() -> None:
    history = History(
        [
            *[("create", path, 2) for path in ("/a", "/a/b", "/zookeeper/quota/a")],
            *[("create", path, 2) for path in (limits_path("/a"), stats_path("/a"))],
        ]
    )
    history.tree.nodes[stats_path("/a")].data = b"count=99,bytes=99"
    disk = new_disk()
    write_snapshot(disk, "/data", history.tree, {})
    tree = read_only_snapshot(disk).tree
    assert tree.quotas.paths == {"/a"}
    assert tree.nodes[stats_path("/a")].data == b"count=2,bytes=8"


def test_slices_are_short_and_many() -> None:
    history = History([("create", "/a", 3)])
    parent = history.tree.nodes["/a"]
    for number in range(2000):
        history.tree.add(f"/a/{number}", parent.copy(), parent)
    slices = list(snapshot_slices(history.tree, {}))
    assert max(map(len, slices)) < 64 * 1024 + 2000
    assert len(slices) > 2000 * 1280 // (64 * 1024)


def test_an_unfinished_snapshot_is_no_snapshot() -> None:
    disk = new_disk()
    file = SnapshotFile(disk, "/data", 7)
    file.write(b"half")
    assert snapshot_files(disk, "/data") == []
    assert remove_unfinished(disk, "/data") == ["/data/unfinished.snapshot.7"]
    assert disk.list_directory("/data") == []


def test_a_full_disk_leaves_no_snapshot_behind() -> None:
    disk, tree = new_disk(), History([("create", "/a", 3)]).tree
    whole = len(b"".join(snapshot_slices(tree, {})))
    for room in range(0, whole, 50):
        disk.storage.device.capacity_bytes = room
        with pytest.raises(DiskFull):
            write_snapshot(disk, "/data", tree, {})
        assert disk.list_directory("/data") == []
    disk.storage.device.repair()
    write_snapshot(disk, "/data", tree, {})
    assert snapshot_files(disk, "/data") == [StoredFile(1, "/data/snapshot.1")]
