"""Transactions made so: the same on every server, in the order of their zxids.

`apply` never refuses. A snapshot may be newer than the zxid it is named after, so after a restart
a transaction may meet its own traces: a node that is there already, or gone already. Then only the
parent's counters, which grow, are brought up to date.

Each function takes a tree or a layer; see `tree` for the verbs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from odradek.zookeeper.state.layer import Layer
from odradek.zookeeper.state.node import CONTAINER_OWNER, Node, ttl_owner
from odradek.zookeeper.state.paths import ROOT
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.data import ACL
from odradek.zookeeper.wire.messages.txn import (
    CloseSessionTxn,
    CreateContainerTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    SetACLTxn,
    SetDataTxn,
    TxnHeader,
)
from odradek.zookeeper.wire.transactions import TypedMultiTxn

Store = Tree | Layer


def apply(store: Store, header: TxnHeader, txn: Any) -> None:
    """Make a transaction so."""
    apply_part(store, header, header.type, txn)


def apply_part(store: Store, header: TxnHeader, op: int, txn: Any) -> None:
    """Make a transaction, or one part of a multi, so."""
    applier = APPLIERS.get(op)
    if applier is not None:
        applier(store, header, txn)


def apply_create(store: Store, header: TxnHeader, txn: CreateTxn) -> None:
    owner = header.client_id if txn.ephemeral else 0
    _create(store, header, txn.path, txn.data, txn.acl, owner, txn.parent_cversion)


def apply_create_ttl(store: Store, header: TxnHeader, txn: CreateTTLTxn) -> None:
    owner = ttl_owner(txn.ttl)
    _create(store, header, txn.path, txn.data, txn.acl, owner, txn.parent_cversion)


def apply_create_container(store: Store, header: TxnHeader, txn: CreateContainerTxn) -> None:
    _create(store, header, txn.path, txn.data, txn.acl, CONTAINER_OWNER, txn.parent_cversion)


def _create(
    store: Store,
    header: TxnHeader,
    path: str,
    data: bytes | None,
    acl: list[ACL] | None,
    owner: int,
    parent_cversion: int,
) -> None:
    parent_path = path[: path.rfind("/")] or ROOT
    parent = store.change(parent_path)
    if parent is None:
        return
    zxid = header.zxid
    if parent_cversion == -1:
        parent_cversion = parent.cversion + 1
    if parent_cversion > parent.cversion:
        parent.cversion = parent_cversion
        parent.pzxid = zxid
    existing = store.trace_of(path)
    shared = store.share_list(acl)
    if existing is None:
        store.add(path, Node(data, shared, owner, zxid, header.time), parent)
    else:
        existing.acl = shared
        existing.sheet.is_stale = True
    store.changed(parent_path, parent)


def apply_delete(store: Store, header: TxnHeader, txn: DeleteTxn) -> None:
    _delete(store, header.zxid, txn.path)


def _delete(store: Store, zxid: int, path: str) -> None:
    parent_path = path[: path.rfind("/")] or ROOT
    parent = store.change(parent_path)
    if parent is None:
        return
    if zxid > parent.pzxid:
        parent.pzxid = zxid
    node = store.get(path)
    if node is not None:
        store.remove(path, node, parent)
    store.changed(parent_path, parent)


def apply_set_data(store: Store, header: TxnHeader, txn: SetDataTxn) -> None:
    node = store.change(txn.path)
    if node is None:
        return
    before = len(node.data) if node.data else 0
    node.data = txn.data
    node.seed = None
    node.version = txn.version
    node.mzxid = header.zxid
    node.mtime = header.time
    store.changed(txn.path, node)
    store.resized(txn.path, (len(txn.data) if txn.data else 0) - before)


def apply_set_acl(store: Store, header: TxnHeader, txn: SetACLTxn) -> None:
    node = store.change(txn.path)
    if node is None:
        return
    node.acl = store.share_list(txn.acl)
    node.aversion = txn.version
    store.changed(txn.path, node)


def apply_close_session(store: Store, header: TxnHeader, txn: CloseSessionTxn | None) -> None:
    """A session and its ephemerals go together."""
    named: Iterable[str] = txn.paths_to_delete if txn is not None else ()
    for path in named:
        _delete(store, header.zxid, path)
    # Logs from before 3.6 do not name the paths.
    for path in sorted(store.ephemerals_of(header.client_id)):
        _delete(store, header.zxid, path)


def apply_multi(store: Store, header: TxnHeader, txn: TypedMultiTxn) -> None:
    """All parts, unless one of them was refused."""
    if any(op == Op.ERROR for op, _ in txn.txns):
        return
    for op, part in txn.txns:
        apply_part(store, header, op, part)


APPLIERS: dict[int, Callable[[Store, TxnHeader, Any], None]] = {
    Op.CREATE: apply_create,
    Op.CREATE2: apply_create,
    Op.CREATE_TTL: apply_create_ttl,
    Op.CREATE_CONTAINER: apply_create_container,
    Op.DELETE: apply_delete,
    Op.DELETE_CONTAINER: apply_delete,
    Op.SET_DATA: apply_set_data,
    Op.RECONFIG: apply_set_data,
    Op.SET_ACL: apply_set_acl,
    Op.CLOSE_SESSION: apply_close_session,
    Op.MULTI: apply_multi,
}
