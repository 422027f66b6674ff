"""A snapshot of a tree that goes on changing, in slices.

A snapshot is fuzzy: it is named after the transaction that was last applied when it began, and each
node in it is as it was when its slice came. Replaying the log from that transaction on makes it
true again, as `apply` sets numbers and never counts them.

What was created since the start is left out: it stands on a later sheet, and the replay creates it,
below a parent that is there. So parents come before their children, as sheets keep the order of
creation. An ACL that was unknown at the start is written as the open one: the replay sets it.

The digest, and the zxid that goes with it, are those of the end. A tree that came in slices itself,
from a leader, has none to show until it is brought to where that snapshot ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from struct import Struct
from zlib import adler32

from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.sheets import Sheet
from odradek.zookeeper.state.tree import OPEN_ACL, Acl, Tree
from odradek.zookeeper.wire.messages.file import FileHeader

HEADER = FileHeader(int.from_bytes(b"ZKSN", "big"), 2, -1).encode()
OPEN_ACL_ID = -1
DIGEST_VERSION = 2
NO_DIGEST = (0, DIGEST_VERSION, 0)
MARK = b"\x00\x00\x00\x01/"  # Ends the nodes, and each seal.
SLICE_BYTES = 64 * 1024
SLICE_NODES = 512  # Also of those that are gone, so that a slice stays short.

COUNT = Struct(">i")
SESSION = Struct(">qi")
ACL_ID = Struct(">q")
NODE = Struct(">qqqqqiiiqq")  # The id of the ACL, then what StatPersisted holds.
SEAL = Struct(">Q")
DIGEST = Struct(">qiQ")
LAST_ZXID = Struct(">q")

_length = COUNT.pack
_numbers = NODE.pack


@dataclass(frozen=True, slots=True)
class SnapshotFormat:
    """The parts of a snapshot that settings can leave out."""

    has_digest: bool = True
    has_last_zxid: bool = True


ALL_PARTS = SnapshotFormat()


def snapshot_slices(
    tree: Tree,
    timeouts: Mapping[int, int],
    parts: SnapshotFormat = ALL_PARTS,
    slice_nodes: int = SLICE_NODES,
) -> Iterator[bytes]:
    """Begin a snapshot of the present: of the tree, and of the sessions and their time-outs.

    What is returned gives the bytes, slice by slice. Between two slices the tree may change.
    """
    start, acl_ids, sheets = begin(tree, timeouts)
    nodes = node_slices(tree, sheets, acl_ids, slice_nodes)
    return sealed_slices(HEADER + start, nodes, tree, parts)


def body_slices(tree: Tree, timeouts: Mapping[int, int]) -> Iterator[bytes]:
    """The same as a leader sends it to a learner: neither header nor seals."""
    start, acl_ids, sheets = begin(tree, timeouts)
    return chain((start,), node_slices(tree, sheets, acl_ids, SLICE_NODES), (MARK,))


def begin(tree: Tree, timeouts: Mapping[int, int]) -> tuple[bytes, dict[Acl, int], list[Sheet]]:
    """What stands before the nodes, the numbers of their ACLs, and the sheets that hold them."""
    acl_ids = {acl: number for number, acl in enumerate(tree.acls) if acl != OPEN_ACL}
    start = [COUNT.pack(len(timeouts))]
    start += (SESSION.pack(*session) for session in timeouts.items())
    start += acl_map(acl_ids)
    tree.sheets.turn()
    return b"".join(start), acl_ids, tree.sheets.all[:-1]


def acl_map(acl_ids: dict[Acl, int]) -> Iterator[bytes]:
    yield COUNT.pack(len(acl_ids))
    for acl, number in acl_ids.items():
        yield ACL_ID.pack(number) + COUNT.pack(len(acl))
        for each in acl:
            yield each.encode()


def node_slices(
    tree: Tree, sheets: Iterable[Sheet], acl_ids: dict[Acl, int], slice_nodes: int = SLICE_NODES
) -> Iterator[bytes]:
    """The nodes of these sheets that are still there, some hundred at a time."""
    get = tree.get
    written: list[bytes] = []
    byte_count = left = 0
    for sheet in sheets:
        for path in sheet.paths:
            node = get(path)
            if node is not None and node.sheet is sheet:
                encoded = encode_node(path, node, acl_ids)
                written.append(encoded)
                byte_count += len(encoded)
            left += 1
            if byte_count >= SLICE_BYTES or left >= slice_nodes:
                yield b"".join(written)
                written.clear()
                byte_count = left = 0
    yield b"".join(written)


def encode_node(path: str, node: Node, acl_ids: dict[Acl, int]) -> bytes:
    name = path.encode()
    data = node.data
    acl = node.acl
    numbers = _numbers(
        OPEN_ACL_ID if acl is OPEN_ACL else acl_ids.get(acl, OPEN_ACL_ID),
        node.czxid,
        node.mzxid,
        node.ctime,
        node.mtime,
        node.version,
        node.cversion,
        node.aversion,
        node.owner,
        node.pzxid,
    )
    if data is None:
        return _length(len(name)) + name + _length(-1) + numbers
    return b"".join((_length(len(name)), name, _length(len(data)), data, numbers))


def sealed_slices(
    start: bytes, nodes: Iterator[bytes], tree: Tree, parts: SnapshotFormat
) -> Iterator[bytes]:
    """All slices, with the seals: each is the Adler-32 of every byte before it."""
    yield start
    checksum = adler32(start)
    for chunk in nodes:
        checksum = adler32(chunk, checksum)
        yield chunk
    yield from end_slices(tree, parts, checksum)


def end_slices(tree: Tree, parts: SnapshotFormat, checksum: int) -> Iterator[bytes]:
    """What follows the nodes, given the checksum of all that is before."""
    pieces = [MARK]
    if parts.has_digest:
        # A tree without transactions has no digest yet.
        is_known = tree.last_zxid and not tree.is_fuzzy
        digest = (tree.last_zxid, DIGEST_VERSION, tree.digest) if is_known else NO_DIGEST
        pieces.append(DIGEST.pack(*digest))
    if parts.has_last_zxid:
        pieces.append(LAST_ZXID.pack(tree.last_zxid))
    for piece in pieces:
        checksum = adler32(piece, checksum)
        seal = SEAL.pack(checksum) + MARK
        checksum = adler32(seal, checksum)
        yield piece + seal
