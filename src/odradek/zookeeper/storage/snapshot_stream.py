"""A snapshot as it comes over the wire, in whatever pieces: from a leader to its learner.

It has the body of a snapshot file without header and seals, and a string ends it. Nodes are placed
as they come. What stands before them is read at once, and tried again only when twice as much has
come, so that no stream is read over and over.
"""

from __future__ import annotations

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.state.tree import Acl, Tree
from odradek.zookeeper.storage.snapshot_reader import (
    count_quotas,
    read_acls,
    read_timeouts,
    read_whole_nodes,
)
from odradek.zookeeper.storage.snapshot_slices import COUNT
from odradek.zookeeper.storage.snapshot_source import Broken, Source
from odradek.zookeeper.wire.quorum import SNAPSHOT_END

SIGNATURE = COUNT.pack(len(SNAPSHOT_END)) + SNAPSHOT_END.encode()


class SnapshotStream:
    """One snapshot that is coming."""

    def __init__(self) -> None:
        self.tree = Tree()
        self.tree.is_fuzzy = True
        self.timeouts: dict[int, int] = {}  # By session.
        self._start = b""
        self._wanted = COUNT.size
        self._acls: dict[int, Acl] | None = None
        self._nodes = Source(iter(()))
        self._has_all_nodes = False

    def feed(self, data: bytes) -> bytes | None:
        """Take bytes of it; return what follows its end, or None while that is not reached."""
        try:
            return self._take(data)
        except (Broken, UnicodeDecodeError) as error:
            raise ProtocolError(f"a snapshot that makes no sense: {error}") from error

    def _take(self, data: bytes) -> bytes | None:
        if self._acls is None:
            self._start += data
            if not self._take_start():
                return None
        else:
            self._nodes.add(data)
        if not self._has_all_nodes:
            self._has_all_nodes = read_whole_nodes(self._nodes, self.tree, self._acls or {})
        return self._take_end() if self._has_all_nodes else None

    def _take_start(self) -> bool:
        if len(self._start) < self._wanted:
            return False
        source = Source(iter(()))
        source.add(self._start)
        try:
            timeouts, acls = read_timeouts(source), read_acls(source, self.tree)
        except Broken:
            self._wanted = 2 * len(self._start)
            return False
        self.timeouts, self._acls, self._nodes = timeouts, acls, source
        self._start = b""
        return True

    def _take_end(self) -> bytes | None:
        rest = self._nodes.rest()
        if len(rest) < len(SIGNATURE):
            return None
        if not rest.startswith(SIGNATURE):
            raise Broken("it is not signed")
        if not self.tree.nodes:
            raise Broken("it has no root")
        count_quotas(self.tree)
        return rest[len(SIGNATURE) :]
