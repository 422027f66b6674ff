"""What is decided and not yet committed, laid over the tree.

Requests are pipelined: the next one must see what those before it will have done. `apply` runs on
a layer as on the tree, but changes copies, one for each transaction: so when its turn comes, the
tree can take over what the transaction made, instead of making it again.

A multi gets a layer of its own over this one, on which its parts are tried.
"""

from __future__ import annotations

from collections import deque

from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.tree import DIGEST_MASK, OPEN_ACL, OPEN_LIST, Acl, Tree
from odradek.zookeeper.wire.messages.data import ACL

Changes = dict[str, Node | None]  # By path; None stands for a node that is gone.


class Layer:
    """Changes over a tree, or over another layer."""

    __slots__ = ("_below", "_newest", "_pending", "_present", "digest")

    def __init__(self, below: Tree | Layer) -> None:
        self._below = below
        self._newest: dict[str, Changes] = {}  # By path: the last pending ones that touch it.
        self._pending: deque[tuple[int, Changes]] = deque()  # By zxid, oldest first.
        self._present: Changes = {}  # Of the transaction that is being decided.
        self.digest: int = below.digest

    def begin(self, zxid: int) -> None:
        """What follows belongs to this transaction."""
        self._present = {}
        self._pending.append((zxid, self._present))

    def take(self, zxid: int) -> Changes:
        """It is the turn of this transaction: forget it, and give what it changed."""
        first, changes = self._pending.popleft()
        assert first == zxid
        newest = self._newest
        for path in changes:
            if newest[path] is changes:  # Not the node: of two deletions pending, both are None.
                del newest[path]
        return changes

    def get(self, path: str) -> Node | None:
        newest = self._newest
        return newest[path][path] if path in newest else self._below.get(path)

    def ephemerals_of(self, session_id: int) -> set[str]:
        """The znodes that will go when this session does."""
        paths = set(self._below.ephemerals_of(session_id))
        for path, changes in self._newest.items():
            node = changes[path]
            if node is None:
                paths.discard(path)
            elif node.owner == session_id:
                paths.add(path)
        return paths

    def change(self, path: str) -> Node | None:
        """A copy of the node that is about to change; `changed` must follow."""
        node = self.get(path)
        if node is None or path in self._present:
            return node
        return node.copy()

    def changed(self, path: str, node: Node) -> None:
        new = node.compute_digest(path)
        self.digest = (self.digest - node.digest + new) & DIGEST_MASK
        node.digest = new
        present = self._newest[path] = self._present
        present[path] = node

    def add(self, path: str, node: Node, parent: Node) -> None:
        parent.child_count += 1
        digest = node.digest = node.compute_digest(path)
        self.digest = (self.digest + digest) & DIGEST_MASK
        present = self._newest[path] = self._present
        present[path] = node

    def remove(self, path: str, node: Node, parent: Node) -> None:
        parent.child_count -= 1
        self.digest = (self.digest - node.digest) & DIGEST_MASK
        present = self._newest[path] = self._present
        present[path] = None

    def resized(self, path: str, bytes_more: int, nodes_more: int = 0) -> None:
        """Sizes are counted once they are true."""

    def share_list(self, entries: list[ACL] | None) -> Acl:
        return OPEN_ACL if entries is OPEN_LIST or not entries else tuple(entries)
