"""A snapshot, read: the tree, the sessions, and what is sealed behind them.

Restarts wait for this, so nodes are read in one loop over large chunks, with no record for each.
Within a chunk nothing is compared with its end: what is not all there makes `struct` complain, and
is tried again with the next chunk behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import error as struct_error

from odradek.runtime.disk import Disk
from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.quota import QuotaText, stats_path
from odradek.zookeeper.state.tree import OPEN_ACL, Acl, Tree
from odradek.zookeeper.storage.compression import BrokenStream, decompress, method_of
from odradek.zookeeper.storage.errors import CorruptSnapshot
from odradek.zookeeper.storage.names import StoredFile
from odradek.zookeeper.storage.snapshot_slices import (
    ACL_ID,
    COUNT,
    DIGEST,
    DIGEST_VERSION,
    HEADER,
    LAST_ZXID,
    MARK,
    NODE,
    OPEN_ACL_ID,
    SEAL,
    SESSION,
)
from odradek.zookeeper.storage.snapshot_source import Broken, Source, chunks_of
from odradek.zookeeper.wire.messages.data import ACL, Id

MAGIC = HEADER[:4]
SEAL_BYTES = SEAL.size + len(MARK)
# An ACL that was set while the snapshot was written may lack its entry: the log will tell.
UNKNOWN_ACL: Acl = (ACL(0, Id("world", "anyone")),)

_unpack_length = COUNT.unpack_from
_unpack_numbers = NODE.unpack_from


@dataclass(frozen=True, slots=True)
class SnapshotDigest:
    """The digest that the tree has, once it is brought up to this zxid."""

    zxid: int
    value: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a snapshot holds. `tree.last_zxid` is what it is named after."""

    path: str
    tree: Tree
    timeouts: dict[int, int]  # By session.
    digest: SnapshotDigest | None


def read_snapshot(disk: Disk, stored: StoredFile) -> Snapshot:
    """Read a snapshot file, or raise `CorruptSnapshot`."""
    with disk.open(stored.path, read_only=True) as file:
        source = Source(decompress(method_of(stored.path), chunks_of(file)))
        try:
            return _read(source, stored)
        except (Broken, BrokenStream, ProtocolError, UnicodeDecodeError) as error:
            raise CorruptSnapshot(stored.path, str(error)) from error


def _read(source: Source, stored: StoredFile) -> Snapshot:
    if not source.take(len(HEADER)).startswith(MAGIC):
        raise Broken("this is not the start of a snapshot")
    tree = Tree()
    timeouts = read_timeouts(source)
    acls = read_acls(source, tree)
    read_nodes(source, tree, acls)
    check_seal(source)
    count_quotas(tree)
    tree.last_zxid = stored.zxid
    digest = read_sealed(source)
    # Where nothing is said of the end, only the first snapshot of all is known to be exact.
    tree.is_fuzzy = digest is None and stored.zxid > 0
    if digest is not None and digest.zxid < stored.zxid:
        digest = None  # That was said of a time before the snapshot.
    return Snapshot(stored.path, tree, timeouts, digest)


def read_timeouts(source: Source) -> dict[int, int]:
    (count,) = COUNT.unpack(source.take(COUNT.size))
    data = source.take(max(0, count) * SESSION.size)
    return dict(SESSION.iter_unpack(data))


def read_acls(source: Source, tree: Tree) -> dict[int, Acl]:
    (count,) = COUNT.unpack(source.take(COUNT.size))
    acls: dict[int, Acl] = {OPEN_ACL_ID: OPEN_ACL}
    for _ in range(count):
        (number,) = ACL_ID.unpack(source.take(ACL_ID.size))
        (size,) = COUNT.unpack(source.take(COUNT.size))
        acls[number] = tree.share(tuple(read_acl(source) for _ in range(size)))
    return acls


def read_acl(source: Source) -> ACL:
    while True:
        try:
            acl, source.position = ACL.read(source.data, source.position)
            return acl
        except ProtocolError:
            source.more()


def read_nodes(source: Source, tree: Tree, acls: dict[int, Acl]) -> None:
    """Read all nodes and the mark behind them."""
    while not read_whole_nodes(source, tree, acls):
        source.more()
    if not tree.nodes:
        raise Broken("it has no root")


def read_whole_nodes(source: Source, tree: Tree, acls: dict[int, Acl]) -> bool:
    """Add the nodes that are there to the end; say whether they were the last."""
    data, position, acl_of = source.data, source.position, acls.get
    try:
        while True:
            (size,) = _unpack_length(data, position)
            start = position + 4
            end = start + size
            if size <= 1 and is_mark(data, position, size):
                source.position = end
                return True
            name = data[start:end]
            (size,) = _unpack_length(data, end)
            start = end + 4
            end = start + size if size > 0 else start
            acl_id, czxid, mzxid, ctime, mtime, version, cversion, aversion, owner, pzxid = (
                _unpack_numbers(data, end)
            )
            content = data[start:end] if size >= 0 else None
            node = Node(content, acl_of(acl_id, UNKNOWN_ACL), owner, czxid, ctime)
            # Equal numbers stay one object: that is a quarter of a small node's memory.
            if mzxid != czxid:
                node.mzxid = mzxid
            if pzxid != czxid:
                node.pzxid = pzxid
            if mtime != ctime:
                node.mtime = mtime
            node.version = version
            node.cversion = cversion
            node.aversion = aversion
            place(tree, name.decode(), node)
            position = source.position = end + NODE.size
    except struct_error:
        return False


def is_mark(data: bytes, position: int, size: int) -> bool:
    if size < 0:
        raise Broken(f"a path of {size} bytes")
    return size == 1 and data[position : position + len(MARK)] == MARK


def place(tree: Tree, path: str, node: Node) -> None:
    if not path:
        tree.put_root(node)
        return
    parent = tree.get(path[: path.rfind("/")])
    if parent is None:
        raise Broken(f"{path} has no parent")
    tree.add(path, node, parent)


def count_quotas(tree: Tree) -> None:
    """Count anew what each quota covers: stats are not logged, so a fuzzy one would stay wrong."""
    for path in tree.quotas.paths:
        stats = tree.get(stats_path(path))
        if stats is not None:
            stats.data = QuotaText(*tree.count_below(path)).text()


def check_seal(source: Source) -> None:
    checksum = source.checksum()
    seal = source.take(SEAL_BYTES)
    if seal != SEAL.pack(checksum) + MARK:
        raise Broken("its checksum is wrong")


def read_sealed(source: Source) -> SnapshotDigest | None:
    """The digest, if it is there; the last zxid may be behind it. Each has a seal of its own."""
    digest = None
    count = len(source.rest())
    with_zxid = LAST_ZXID.size + SEAL_BYTES
    with_digest = DIGEST.size + SEAL_BYTES
    if count in (with_digest, with_digest + with_zxid):
        digest = read_digest(source)
        check_seal(source)
    if count in (with_zxid, with_digest + with_zxid):
        source.take(LAST_ZXID.size)
        check_seal(source)
    if source.rest():
        raise Broken(f"{count} bytes follow the tree")
    return digest


def read_digest(source: Source) -> SnapshotDigest | None:
    """What the tree must come to, if that was known."""
    digest_zxid, version, value = DIGEST.unpack(source.take(DIGEST.size))
    if version != DIGEST_VERSION or not digest_zxid:
        return None
    return SnapshotDigest(digest_zxid, value)
