"""A snapshot that takes over from the last one what has not changed since.

Most of a large tree seldom changes. A sheet that is not stale is copied, file to file, by a thread
that hardly needs the interpreter; only stale ones and new ones are encoded. The new file is whole
in itself: nothing in it points to the old one.

No damage is taken over: each sheet has a checksum of its own, made when it was encoded, which the
copy is held against. It also gives the checksum of the whole without reading the copied bytes here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from zlib import adler32

from odradek.zookeeper.state.sheets import Kept, Sheet
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.checksums import combined
from odradek.zookeeper.storage.snapshot_file import COPY_BYTES
from odradek.zookeeper.storage.snapshot_slices import (
    HEADER,
    SLICE_BYTES,
    SnapshotFormat,
    begin,
    end_slices,
    node_slices,
)

Piece = bytes | list[Kept]


class Renewal:
    """One snapshot, begun when this is made. Between two of its pieces the tree may change."""

    def __init__(
        self, tree: Tree, timeouts: Mapping[int, int], parts: SnapshotFormat, path: str
    ) -> None:
        """`path` is where it will be found once it is finished."""
        self._tree = tree
        self._parts = parts
        self._path = path
        start, self._acl_ids, self._sheets = begin(tree, timeouts)
        self._acl_count = len(tree.acls)
        self._start = HEADER + start
        self._kept: list[tuple[Sheet, Kept]] = []

    def pieces(self) -> Iterator[Piece]:
        """The snapshot in order: bytes, or what is to be copied from the last one."""
        return gathered(self._each())

    def finished(self) -> None:
        """The file is there: the next snapshot may take over from it."""
        for sheet, kept in self._kept:
            sheet.kept = kept

    def _each(self) -> Iterator[bytes | Kept]:
        yield self._start
        checksum, position = adler32(self._start), len(self._start)
        for sheet in self._sheets:
            if sheet.kept is None or sheet.is_stale:
                size, own = yield from self._encoded(sheet)
            else:
                _, _, size, own = sheet.kept
                yield sheet.kept
            self._kept.append((sheet, Kept(self._path, position, size, own)))
            checksum = combined(checksum, own, size)
            position += size
        yield from end_slices(self._tree, self._parts, checksum)

    def _encoded(self, sheet: Sheet) -> Generator[bytes, None, tuple[int, int]]:
        """The bytes of one sheet; at the end their count and their checksum."""
        sheet.kept = None
        sheet.is_stale = False  # Whatever changes from now on makes it stale again.
        size, checksum = 0, adler32(b"")
        for chunk in node_slices(self._tree, (sheet,), self._acl_ids):
            size += len(chunk)
            checksum = adler32(chunk, checksum)
            yield chunk
        if len(self._tree.acls) != self._acl_count:
            sheet.is_stale = True  # An ACL may be missing that this snapshot has no number for.
        return size, checksum


def gathered(each: Iterable[bytes | Kept]) -> Iterator[Piece]:
    """Neighbours of a kind put together, until they are worth a call."""
    chunks: list[bytes] = []
    copies: list[Kept] = []
    size = 0
    for piece in each:
        if isinstance(piece, Kept):
            if chunks:
                yield b"".join(chunks)
                chunks, size = [], 0
            copies.append(piece)
            size += piece.size
            if size >= COPY_BYTES:
                yield copies
                copies, size = [], 0
        else:
            if copies:
                yield copies
                copies, size = [], 0
            chunks.append(piece)
            size += len(piece)
            if size >= SLICE_BYTES:
                yield b"".join(chunks)
                chunks, size = [], 0
    if copies:
        yield copies
    if chunks:
        yield b"".join(chunks)
