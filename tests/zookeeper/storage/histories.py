"""Histories: transactions that fit each other, as a server would have logged them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from odradek.zookeeper.state.apply import apply
from odradek.zookeeper.state.paths import parent_of
from odradek.zookeeper.state.quota import STATS_NAME
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.data import ACL, Id
from odradek.zookeeper.wire.messages.txn import (
    CloseSessionTxn,
    CreateContainerTxn,
    CreateSessionTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    ErrorTxn,
    SetACLTxn,
    SetDataTxn,
    TxnDigest,
    TxnHeader,
)
from odradek.zookeeper.wire.transactions import TxnEntry, TypedMultiTxn

Step = tuple[str, str, int]  # What is done, to which path, and a number to do it with.

QUOTA_OF_A = "/zookeeper/quota/a"
PATHS = (
    *("/a", "/a/b", "/a/b/c", "/a/d", "/a/b/é", "/e", "/e/f", QUOTA_OF_A),
    *(f"{QUOTA_OF_A}/zookeeper_limits", f"{QUOTA_OF_A}/zookeeper_stats"),
)
KINDS = (
    *("create", "create", "ephemeral", "container", "ttl", "delete", "set data", "set acl"),
    *("open session", "close session", "multi", "refused"),
)
TIME_MS = 1_794_725_546_000


def any_step() -> st.SearchStrategy[Step]:
    return st.tuples(st.sampled_from(KINDS), st.sampled_from(PATHS), st.integers(0, 3))


def any_steps(max_size: int = 40) -> st.SearchStrategy[list[Step]]:
    return st.lists(any_step(), max_size=max_size)


class History:
    """A tree, its sessions, and the log that made them."""

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.tree = Tree.fresh()
        self.timeouts: dict[int, int] = {}
        self.entries: list[bytes] = []  # The zxid of the first is 1.
        self.steps: list[Step] = []
        for step in steps:
            self.take(step)

    def take(self, step: Step) -> bytes:
        """Do one thing, as far as it can be done; return what is logged of it."""
        self.steps.append(step)
        kind, path, number = step
        op, record = self._part(kind, path, number)
        zxid = self.tree.last_zxid + 1
        header = TxnHeader(number, zxid, zxid, TIME_MS + 7 * zxid, op)
        if isinstance(record, CreateSessionTxn):
            self.timeouts[number] = record.time_out
        elif op == Op.CLOSE_SESSION:
            self.timeouts.pop(number, None)
        apply(self.tree, header, record)
        self.tree.last_zxid = zxid
        digest = None if op == Op.ERROR else TxnDigest(2, signed(self.tree.digest))
        self.entries.append(TxnEntry(header, record, digest).encode())
        return self.entries[-1]

    def _part(self, kind: str, path: str, number: int) -> tuple[int, Any]:
        if kind in ("create", "ephemeral", "container", "ttl") and self._can_create(path):
            return self._create(kind, path, number)
        node = self.tree.get(path)
        if kind == "delete" and node is not None and not node.children:
            return Op.DELETE, DeleteTxn(path)
        if kind == "set data" and node is not None:
            return Op.SET_DATA, SetDataTxn(path, any_data(number), node.version + 1)
        if kind == "set acl" and node is not None:
            return Op.SET_ACL, SetACLTxn(path, any_acl(number), node.aversion + 1)
        if kind == "open session":
            return Op.CREATE_SESSION, CreateSessionTxn(1000 + number)
        if kind == "close session":
            return Op.CLOSE_SESSION, CloseSessionTxn(sorted(self.tree.ephemerals_of(number)))
        if kind == "multi" and self._can_create(path):
            return Op.MULTI, self._multi(path, number)
        return Op.ERROR, ErrorTxn(-101)

    def _can_create(self, path: str) -> bool:
        parent = self.tree.get(parent_of(path))
        return parent is not None and path not in self.tree.nodes and parent.owner <= 0

    def _create(self, kind: str, path: str, number: int) -> tuple[int, Any]:
        parent = self.tree.nodes[parent_of(path)]
        data, acl, cversion = any_data(number), any_acl(number), parent.cversion + 1
        if kind == "container":
            return Op.CREATE_CONTAINER, CreateContainerTxn(path, data, acl, cversion)
        if kind == "ttl":
            return Op.CREATE_TTL, CreateTTLTxn(path, data, acl, cversion, 1000 + number)
        is_ephemeral = kind == "ephemeral" and number > 0
        return Op.CREATE, CreateTxn(path, data, acl, is_ephemeral, cversion)

    def _multi(self, path: str, number: int) -> TypedMultiTxn:
        _, create = self._create("create", path, number)
        return TypedMultiTxn([(Op.CREATE, create), (Op.SET_DATA, SetDataTxn(path, b"2", 1))])


def any_data(number: int) -> bytes | None:
    return (None, b"", b"data", bytes(range(256)) * 5)[number]


def any_acl(number: int) -> list[ACL]:
    return [ACL((31, 31, 1, 7)[number], Id("world", "anyone"))]


def signed(digest: int) -> int:
    return digest if digest < 1 << 63 else digest - (1 << 64)


def portrait(tree: Tree) -> dict[str, Any]:
    """All that two equal trees agree on. What a quota counts is counted anew by a restart."""
    return {
        "nodes": {path: node_portrait(tree, path) for path in tree.nodes},
        "indexes": (tree.ephemerals, tree.containers, tree.ttls, tree.quotas.paths),
        "digest": tree.digest,
        "last zxid": tree.last_zxid,
    }


def node_portrait(tree: Tree, path: str) -> tuple[Any, ...]:
    node = tree.nodes[path]
    if path.endswith(STATS_NAME):
        return node.acl, node.czxid, node.mzxid, node.version
    return node.data, node.acl, node.owner, node.stat(), set(node.children or ()), node.digest
