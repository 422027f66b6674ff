"""What is decided and not yet committed, laid over the tree.

Requests are pipelined: the next one must see what those before it will have done. `apply` runs on
a layer as on the tree, but changes copies, one for each transaction: so when its turn comes, the
tree can adopt what the transaction made, instead of making it again.

A multi gets a layer of its own over this one, on which its parts are tried.
"""

from __future__ import annotations

from odradek.zookeeper.state.node import Node
from odradek.zookeeper.state.tree import DIGEST_MASK, OPEN_ACL, OPEN_LIST, Acl, Tree
from odradek.zookeeper.wire.messages.data import ACL

Changes = dict[str, Node | None]  # By path; None stands for a node that is gone.


class Layer:
    """Changes over a tree, or over another layer."""

    __slots__ = ("_below", "_get_below", "_newest", "_present", "digest")

    def __init__(self, below: Tree | Layer) -> None:
        self._below = below
        self._get_below = below.get
        self._newest: dict[str, Changes] = {}  # By path: the last pending ones that touch it.
        self._present: Changes = {}  # Of the transaction that is being decided.
        self.digest: int = below.digest

    def begin(self) -> Changes:
        """What follows belongs to a new transaction, and will be found in what is returned."""
        present: Changes = {}
        self._present = present
        return present

    def forget(self, changes: Changes) -> None:
        """It is the turn of this transaction, the oldest of all: the tree shows it from now on."""
        newest = self._newest
        for path in changes:
            if newest[path] is changes:  # Not the node: of two deletions pending, both are None.
                del newest[path]

    def get(self, path: str) -> Node | None:
        newest = self._newest
        return newest[path][path] if path in newest else self._get_below(path)

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

    def trace_of(self, path: str) -> Node | None:
        """Nothing: what is decided upon a layer was seen not to be there."""
        return None

    def change(self, path: str) -> Node | None:
        """A copy of the node that is about to change; `changed` must follow."""
        changes = self._newest.get(path)
        node = self._get_below(path) if changes is None else changes[path]
        if node is None or changes is self._present:
            return node
        return node.copy()

    def changed(self, path: str, node: Node) -> None:
        self.digest = (self.digest - node.digest + node.renew_digest(path)) & DIGEST_MASK
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
