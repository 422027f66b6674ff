"""Directories change hands: Apache ZooKeeper starts on ours, and we on theirs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import make_acl

from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.state.quota import limits_path, stats_path
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.recover import Recovered, recover
from odradek.zookeeper.storage.snapshot_file import SnapshotFile
from odradek.zookeeper.storage.snapshot_slices import snapshot_slices
from odradek.zookeeper.storage.txnlog import TxnLog
from tests.interop.apache import ApacheZooKeeper
from tests.zookeeper.storage.histories import QUOTA_OF_A, History, Step
from tests.zookeeper.storage.logs import batch_of

BEFORE: list[Step] = [
    *[("open session", "", number) for number in (1, 2, 3)],
    *[("create", "/a", 3), ("create", "/a/b", 0), ("create", "/a/b/é", 2), ("create", "/e", 2)],
    *[("ephemeral", "/a/d", 1), ("set data", "/a", 2), ("set acl", "/e", 3)],
    *[("create", path, 1) for path in (QUOTA_OF_A, limits_path("/a"), stats_path("/a"))],
    ("close session", "", 3),
]
MEANWHILE: list[Step] = [
    *[("container", "/a/b/c", 2), ("ttl", "/e/f", 1), ("refused", "", 0), ("delete", "/a/d", 0)],
    *[("multi", "/a/d", 3), ("set data", "/a/b", 3), ("set acl", "/a/b", 2)],
    *[("delete", "/a/b/é", 0), ("create", "/a/b/é", 3), ("set data", "/e", 0)],
]
AFTER: list[Step] = [("set data", "/a", 3), ("delete", "/e/f", 0), ("create", "/e/f", 2)]
SETTINGS = {"extendedTypesEnabled": "true", "maxSessionTimeout": 600_000}
COMPRESSIONS = pytest.mark.parametrize("compression", ["", "gz", "snappy"])

Znode = tuple[bytes | None, tuple[int, ...], list[tuple[int, str, str]]]


@contextmanager
def connected(server: ApacheZooKeeper) -> Iterator[Any]:
    client = KazooClient(server.connect_string, timeout=60)
    client.start(timeout=30)
    try:
        yield client
    finally:
        client.stop()
        client.close()


def znodes_of_server(client: Any) -> dict[str, Znode]:
    found: dict[str, Znode] = {}
    left = ["/"]
    while left:
        path = left.pop()
        data, stat = client.get(path)
        acl, _ = client.get_acls(path)
        found[path] = data, tuple(stat), [(a.perms, a.id.scheme, a.id.id) for a in acl]
        left += (f"{path.rstrip('/')}/{name}" for name in client.get_children(path))
    return found


def znodes_of_tree(tree: Tree) -> dict[str, Znode]:
    found: dict[str, Znode] = {}
    for path, node in tree.nodes.items():
        stat = node.stat()
        numbers = tuple(getattr(stat, name) for name in stat.__match_args__)
        acl = [(each.perms, str(each.id.scheme), str(each.id.id)) for each in node.acl]
        found[path] = node.data, numbers, acl
    del found[""]
    return found


def recovered(directory: Path) -> Recovered:
    disk = OsDisk()
    directories = Directories.open(disk, str(directory))
    try:
        return recover(disk, directories.snapshots, directories.logs)
    finally:
        directories.release()


def write_files(directory: Path, history: History, compression: str) -> None:
    """A log of two files, and a snapshot begun between them and finished after."""
    disk = OsDisk()
    directories = Directories.open(disk, str(directory))
    recover(disk, directories.snapshots, directories.logs)
    log = TxnLog(disk, directories.logs)
    log.write(batch_of(enumerate(history.entries, 1)))
    slices = snapshot_slices(history.tree, history.timeouts, slice_nodes=1)
    file = SnapshotFile(disk, directories.snapshots, len(BEFORE), compression)
    for step in MEANWHILE:
        file.write(next(slices))
        history.take(step)
    log.write(batch_of(enumerate(history.entries[len(BEFORE) :], len(BEFORE) + 1), rolls=True))
    for chunk in slices:
        file.write(chunk)
    file.finish()
    for step in AFTER:
        entry = history.take(step)
        log.write(batch_of([(history.tree.last_zxid, entry)]))
    log.close()
    directories.release()


@COMPRESSIONS
def test_apache_starts_on_our_files_and_has_the_same_znodes(
    tmp_path: Path, compression: str
) -> None:
    history = History(BEFORE)
    write_files(tmp_path / "data", history, compression)
    with ApacheZooKeeper(tmp_path, SETTINGS) as server, connected(server) as client:
        theirs = znodes_of_server(client)
    assert theirs == znodes_of_tree(recovered(tmp_path / "data").tree)
    # What it met on the way was as it had been: each transaction says what the tree must be.
    assert "igest" not in server.log.read_text()


def fill(client: Any) -> None:
    """Some of all that a client can do."""
    client.create("/a", b"1")
    client.create("/a/é", bytes(3000), acl=[make_acl("world", "anyone", read=True, admin=True)])
    client.create("/a/n-", b"", sequence=True)
    client.create("/a/here", ephemeral=True)
    client.create("/e/child", makepath=True)
    client.set("/a", b"2")
    client.set_acls("/e", [make_acl("ip", "127.0.0.1", all=True)])
    client.create(limits_path("/a"), b"count=9,bytes=-1", makepath=True)
    client.create(stats_path("/a"), b"count=0,bytes=0")
    transaction = client.transaction()
    transaction.create("/multi")
    transaction.set_data("/a", b"longer")
    transaction.delete("/a/n-0000000001")
    assert not any(isinstance(result, Exception) for result in transaction.commit())


@COMPRESSIONS
def test_we_start_on_the_files_of_apache_and_have_the_same_znodes(
    tmp_path: Path, compression: str
) -> None:
    settings = SETTINGS | {"snapshot.compression.method": compression}
    with ApacheZooKeeper(tmp_path, settings) as server, connected(server) as client:
        fill(client)
        before_restart = znodes_of_server(client)
        server.kill()
    # At its start it takes a snapshot, of all that is in the log so far.
    with ApacheZooKeeper(tmp_path, settings) as server, connected(server) as client:
        assert znodes_of_server(client) == before_restart
        client.create("/after", b"the snapshot")
        theirs = znodes_of_server(client)
        server.kill()
    state = recovered(tmp_path / "data")
    assert znodes_of_tree(state.tree) == theirs
    assert len(state.timeouts) == 2
    assert state.notes[0].partition(":")[0].endswith(compression)
