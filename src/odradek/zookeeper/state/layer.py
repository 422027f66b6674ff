"""What is decided and not yet committed, laid over the tree.

Requests are pipelined: the next one must see what those before it will have done. `apply` runs on
a layer as on the tree, but changes copies. Once the tree has applied a transaction, the layer
forgets what only that one had touched.

A multi gets a layer of its own over this one, and is laid down only if all its parts were possible.
"""

from __future__ import annotations

from collections import deque

from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.tree import DIGEST_MASK, OPEN_ACL, OPEN_LIST, Acl, Tree
from odradek.zookeeper.wire.messages.data import ACL


class Layer:
    """Changes over a tree, or over another layer; None stands for a node that is gone."""

    __slots__ = ("_below", "_changes", "_touched", "_zxids", "digest")

    def __init__(self, below: Tree | Layer) -> None:
        self._below = below
        self._changes: dict[str, Node | None] = {}
        self._zxids: dict[str, int] = {}  # The newest transaction that touched each change.
        self._touched: deque[tuple[int, list[str]]] = deque()  # Oldest first.
        self.digest: int = below.digest

    def begin(self, zxid: int) -> None:
        """What follows belongs to this transaction."""
        self._touched.append((zxid, []))

    def committed(self, zxid: int) -> None:
        """The tree has caught up with this transaction: forget what no later one touched."""
        while self._touched and self._touched[0][0] <= zxid:
            done, paths = self._touched.popleft()
            for path in paths:
                if self._zxids.get(path) == done:
                    del self._changes[path], self._zxids[path]

    def lay_down(self, other: Layer) -> None:
        """Take over the changes of a layer over this one, as part of the present transaction."""
        for path, node in other._changes.items():
            self._put(path, node)
        self.digest = other.digest

    def get(self, path: str) -> Node | None:
        changes = self._changes
        return changes[path] if path in changes else self._below.get(path)

    def ephemerals_of(self, session_id: int) -> set[str]:
        """The znodes that will go when this session does."""
        paths = set(self._below.ephemerals_of(session_id))
        for path, node in self._changes.items():
            if node is None:
                paths.discard(path)
            elif node.owner == session_id:
                paths.add(path)
        return paths

    def change(self, path: str) -> Node | None:
        """A copy of the node that is about to change; `changed` must follow."""
        node = self.get(path)
        if node is not None and path not in self._changes:
            node = node.copy()
        return node

    def changed(self, path: str, node: Node) -> None:
        new = node.compute_digest(path)
        self.digest = (self.digest - node.digest + new) & DIGEST_MASK
        node.digest = new
        self._put(path, node)

    def add(self, path: str, node: Node, parent: Node) -> None:
        parent.child_count += 1
        digest = node.digest = node.compute_digest(path)
        self.digest = (self.digest + digest) & DIGEST_MASK
        self._put(path, node)

    def remove(self, path: str, node: Node, parent: Node) -> None:
        parent.child_count -= 1
        self.digest = (self.digest - node.digest) & DIGEST_MASK
        self._put(path, None)

    def resized(self, path: str, bytes_more: int, nodes_more: int = 0) -> None:
        """Sizes are counted once they are true."""

    def share_list(self, entries: list[ACL] | None) -> Acl:
        return OPEN_ACL if entries is OPEN_LIST or not entries else tuple(entries)

    def _put(self, path: str, node: Node | None) -> None:
        zxid, paths = self._touched[-1]
        self._changes[path] = node
        if self._zxids.get(path) != zxid:
            self._zxids[path] = zxid
            paths.append(path)
