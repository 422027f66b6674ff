"""The tree of znodes, as committed.

`apply` changes it through a few verbs, `get`, `change`/`changed`, `add`, `remove` and `resized`,
which keep what is found through it true: children, ephemerals by session, containers, times to
live, quotas, the digest, sheets. A `Layer` has the same verbs, for what is decided and not yet
committed.
"""

from __future__ import annotations

from odradek.zookeeper.state.node import CONTAINER_OWNER, Node, ttl_of
from odradek.zookeeper.state.paths import CONFIG, QUOTA, ROOT, SYSTEM, name_of, parent_of
from odradek.zookeeper.state.quota import (
    LIMITS_NAME,
    STATS_NAME,
    Quotas,
    QuotaText,
    stats_path,
)
from odradek.zookeeper.state.sheets import SHEET_NODES, Sheets
from odradek.zookeeper.wire.codes import Perms
from odradek.zookeeper.wire.messages.data import ACL, Id, open_acl

Acl = tuple[ACL, ...]
OPEN_LIST = open_acl()
OPEN_ACL: Acl = tuple(OPEN_LIST)
READ_ACL: Acl = (ACL(Perms.READ, Id("world", "anyone")),)
DIGEST_MASK = 0xFFFFFFFFFFFFFFFF
QUOTA_PREFIX = QUOTA + "/"


class Tree:
    """All znodes by path, and what is found through them."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.get = self.nodes.get
        self.last_zxid = 0
        self.is_fuzzy = False  # Later transactions may be in it already: its digest says nothing.
        self.digest = 0
        self.data_bytes = 0
        self.ephemerals: dict[int, set[str]] = {}  # By session.
        self.containers: set[str] = set()
        self.ttls: set[str] = set()
        self.quotas = Quotas()
        self.sheets = Sheets(self.get)
        self.acls: dict[Acl, Acl] = {OPEN_ACL: OPEN_ACL}  # Each that a node has or had.

    @classmethod
    def fresh(cls) -> Tree:
        """The tree of a server that was never used."""
        tree = cls()
        root = Node(b"", OPEN_ACL, 0, 0, 0)
        tree.put_root(root)
        system = Node(b"", OPEN_ACL, 0, 0, 0)
        tree.add(SYSTEM, system, root)
        config = Node(b"", tree.share(READ_ACL), 0, 0, 0)
        config.aversion = -1  # As the original has it, which sets its ACL without a version.
        tree.add(CONFIG, config, system)
        tree.add(QUOTA, Node(b"", OPEN_ACL, 0, 0, 0), system)
        return tree

    def __len__(self) -> int:
        """How many znodes there are, counted as the original counts: the root has two names."""
        return len(self.nodes)

    def share(self, acl: Acl) -> Acl:
        """The same ACL, kept once for all nodes that have it."""
        return self.acls.setdefault(acl, acl)

    def share_list(self, entries: list[ACL] | None) -> Acl:
        """The same as a transaction has it: nearly always open; null in old logs, which is open."""
        return OPEN_ACL if entries is OPEN_LIST or not entries else self.share(tuple(entries))

    def ephemerals_of(self, session_id: int) -> set[str]:
        return self.ephemerals.get(session_id, set())

    def put_root(self, root: Node) -> None:
        self.nodes[""] = self.nodes[ROOT] = root
        root.sheet = self.sheets.last
        root.sheet.paths.append("")
        root.digest = root.compute_digest(ROOT)
        self.digest = root.digest

    def trace_of(self, path: str) -> Node | None:
        """What is there of a node that is about to be made, if the tree is fuzzy."""
        return self.nodes.get(path)

    def change(self, path: str) -> Node | None:
        """The node that is about to change; `changed` must follow."""
        return self.nodes.get(path)

    def changed(self, path: str, node: Node) -> None:
        """The numbers or the data of this node are now others."""
        self.digest = (self.digest - node.digest + node.renew_digest(path)) & DIGEST_MASK
        node.sheet.is_stale = True

    def adopt(self, changes: dict[str, Node | None]) -> None:
        """Take over what a transaction made on a layer: nodes made, changed or (None) deleted.

        Copies count their children but do not carry them: a copy takes over the table of the node
        that it replaces, whether children came and went in it before or will after that.
        """
        nodes = self.nodes
        for path, node in changes.items():
            before = nodes.get(path)
            if before is None:
                if node is not None:
                    self._adopt_new(path, node)
            elif node is None:
                self._drop(path, before, nodes[parent_of(path) or ROOT])
            else:
                node.children = before.children
                sheet = node.sheet = before.sheet
                sheet.is_stale = True
                nodes[path] = node
                if path == ROOT:
                    nodes[""] = node
                self.digest = (self.digest - before.digest + node.digest) & DIGEST_MASK
                if node.mzxid != before.mzxid:  # Its data was set, perhaps to the same.
                    bytes_before = len(before.data) if before.data else 0
                    self.resized(path, (len(node.data) if node.data else 0) - bytes_before)

    def _adopt_new(self, path: str, node: Node) -> None:
        if node.acl is not OPEN_ACL:
            node.acl = self.share(node.acl)
        self._put(path, node, self.nodes[parent_of(path) or ROOT])

    def add(self, path: str, node: Node, parent: Node) -> None:
        """Put a node below its parent."""
        parent.child_count += 1
        node.digest = node.compute_digest(path)
        self._put(path, node, parent)

    def _put(self, path: str, node: Node, parent: Node) -> None:
        children = parent.children
        if children is None:
            children = parent.children = {}
        children[path[path.rfind("/") + 1 :]] = None
        sheet = self.sheets.last
        if len(sheet.paths) >= SHEET_NODES:
            sheet = self.sheets.next()
        sheet.paths.append(path)
        node.sheet = sheet
        self.nodes[path] = node  # Only now: every node that is found stands on a sheet.
        self.digest = (self.digest + node.digest) & DIGEST_MASK
        if node.owner:
            self._index_owner(path, node.owner)
        data = node.data
        self.data_bytes += len(path) + len(data) if data else len(path)
        if path.startswith(QUOTA_PREFIX):
            self._add_quota(path)
        if self.quotas.paths:
            self._count_use(path, len(data) if data else 0, 1)

    def remove(self, path: str, node: Node, parent: Node) -> None:
        """Take a node away; it has no children."""
        parent.child_count -= 1
        self._drop(path, node, parent)

    def _drop(self, path: str, node: Node, parent: Node) -> None:
        del self.nodes[path]
        self.sheets.gone(node.sheet)
        assert parent.children is not None
        parent.children.pop(name_of(path), None)
        self.digest = (self.digest - node.digest) & DIGEST_MASK
        if node.owner:
            self._forget_owner(path, node.owner)
        if path.startswith(QUOTA_PREFIX) and name_of(path) == LIMITS_NAME:
            self.quotas.paths.discard(parent_of(path)[len(QUOTA) :])
        data_bytes = len(node.data) if node.data else 0
        self.data_bytes -= len(path)
        self.resized(path, -data_bytes, -1)

    def resized(self, path: str, bytes_more: int, nodes_more: int = 0) -> None:
        """Count what a change of a node adds to the tree, and to the quota over it."""
        self.data_bytes += bytes_more
        if self.quotas.paths:
            self._count_use(path, bytes_more, nodes_more)

    def _count_use(self, path: str, bytes_more: int, nodes_more: int) -> None:
        if covering := self.quotas.covering(path):
            stats = self.nodes.get(stats_path(covering))
            if stats is not None:
                used = QuotaText.parse(stats.data)
                used.count += nodes_more
                used.data_bytes += bytes_more
                stats.data = used.text()
                stats.sheet.is_stale = True

    def count_below(self, path: str) -> tuple[int, int]:
        """How many znodes and bytes a subtree holds, its top included."""
        top = self.nodes.get(path)
        if top is None:
            return 0, 0
        count, data_bytes = 1, len(top.data) if top.data else 0
        for name in top.children or ():
            below_count, below_bytes = self.count_below(f"{path}/{name}")
            count += below_count
            data_bytes += below_bytes
        return count, data_bytes

    def _index_owner(self, path: str, owner: int) -> None:
        if owner == CONTAINER_OWNER:
            self.containers.add(path)
        elif ttl_of(owner) is not None:
            self.ttls.add(path)
        else:
            self.ephemerals.setdefault(owner, set()).add(path)

    def _forget_owner(self, path: str, owner: int) -> None:
        if owner == CONTAINER_OWNER:
            self.containers.discard(path)
        elif ttl_of(owner) is not None:
            self.ttls.discard(path)
        elif paths := self.ephemerals.get(owner):
            paths.discard(path)
            if not paths:
                del self.ephemerals[owner]

    def _add_quota(self, path: str) -> None:
        """A limits znode puts a subtree under a quota; a new stats znode is counted at once."""
        guarded = parent_of(path)[len(QUOTA) :]
        if name_of(path) == LIMITS_NAME and guarded:
            self.quotas.paths.add(guarded)
        if name_of(path) == STATS_NAME:
            self.nodes[path].data = QuotaText(*self.count_below(guarded)).text()
