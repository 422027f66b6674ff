"""ZooKeeper's files: appends to the log, snapshots of 100,000 znodes, and a restart from both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from time import perf_counter

from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.state.apply import apply
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.storage.names import snapshot_files
from odradek.zookeeper.storage.recover import recover
from odradek.zookeeper.storage.snapshot_file import SnapshotFile, write_snapshot
from odradek.zookeeper.storage.snapshot_reader import read_snapshot
from odradek.zookeeper.storage.snapshot_slices import snapshot_slices
from odradek.zookeeper.storage.txnlog import TxnLog
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.data import ACL, Id
from odradek.zookeeper.wire.messages.txn import CreateTxn, TxnDigest, TxnHeader
from odradek.zookeeper.wire.transactions import TxnEntry

NODES = 100_000
BATCH_ENTRIES = 1_000
OPEN = [ACL(31, Id("world", "anyone"))]
TIME_MS = 1_794_725_546_000


def grown_tree(count: int) -> tuple[Tree, list[bytes]]:
    """A tree of so many znodes of 100 bytes, in a hundred directories, and the log that made it."""
    tree = Tree.fresh()
    entries = []
    for zxid in range(1, count + 1):
        directory = f"/directory-{zxid % 100:02d}"
        path = directory if zxid <= 100 else f"{directory}/node-{zxid:08d}"
        header = TxnHeader(0x100000A8EF00000, zxid, zxid, TIME_MS + zxid, Op.CREATE)
        record = CreateTxn(path, b"x" * 100, OPEN, False, zxid if zxid <= 100 else zxid // 100)
        apply(tree, header, record)
        tree.last_zxid = zxid
        digest = tree.digest if tree.digest < 1 << 63 else tree.digest - (1 << 64)
        entries.append(TxnEntry(header, record, TxnDigest(2, digest)).encode())
    return tree, entries


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def write_log(log: TxnLog, entries: list[bytes]) -> None:
    for start in range(0, len(entries), BATCH_ENTRIES):
        batch = Batch()
        for number, entry in enumerate(entries[start : start + BATCH_ENTRIES], start + 1):
            batch.append(number, entry)
        log.write(batch)
    log.close()


def measure_appends(directory: str, entries: list[bytes]) -> None:
    batch = Batch()

    def gather() -> None:
        for number, entry in enumerate(entries, 1):
            batch.append(number, entry)

    print(f"append, in memory        {len(entries) / seconds(gather):12,.0f} /s")
    log = TxnLog(OsDisk(), directory)
    spent = seconds(lambda: write_log(log, entries))
    print(f"append, synced by {BATCH_ENTRIES}   {len(entries) / spent:12,.0f} /s")


def measure_slices(directory: str, tree: Tree) -> None:
    """What the event loop is held up by, one slice after the other."""
    slices: Iterator[bytes] = iter(())
    spans = [0.0]

    def begin() -> None:
        nonlocal slices
        slices = snapshot_slices(tree, {})

    print(f"snapshot, its beginning  {seconds(begin) * 1e3:12.2f} ms")
    file = SnapshotFile(OsDisk(), directory, tree.last_zxid)
    start = perf_counter()
    for chunk in slices:
        spans.append(perf_counter() - start)
        file.write(chunk)
        start = perf_counter()
    file.finish()
    print(f"snapshot, longest slice  {max(spans) * 1e3:12.2f} ms of {len(spans) - 1}")
    print(f"snapshot, one znode      {sum(spans) / len(tree) * 1e6:12.2f} us")


def measure_compression(directory: str, tree: Tree) -> None:
    disk = OsDisk()
    for compression in ("gz", "snappy"):
        write = partial(write_snapshot, disk, directory, tree, {}, compression=compression)
        print(f"snapshot, {compression:<14} {seconds(write) * 1e3:12.0f} ms")
        disk.remove(snapshot_files(disk, directory)[-1].path)


def measure_restarts(directory: str) -> None:
    disk = OsDisk()
    (stored,) = snapshot_files(disk, directory)
    best = min(seconds(lambda: read_snapshot(disk, stored)) for _ in range(3))
    print(f"read the snapshot        {best * 1e3:12.0f} ms")
    best = min(seconds(lambda: recover(disk, directory, directory)) for _ in range(3))
    print(f"recover from it          {best * 1e3:12.0f} ms")
    disk.remove(stored.path)
    write_snapshot(disk, directory, Tree.fresh(), {})
    best = min(seconds(lambda: recover(disk, directory, directory)) for _ in range(3))
    print(f"recover from the log     {best * 1e3:12.0f} ms")


if __name__ == "__main__":
    grown, logged = grown_tree(NODES)
    with TemporaryDirectory() as place:
        measure_appends(place, logged)
        measure_slices(place, grown)
        measure_compression(place, grown)
        measure_restarts(place)
