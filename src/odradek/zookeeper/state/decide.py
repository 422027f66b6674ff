"""What a write would do: a transaction, or the error that refuses it. Changes nothing.

Each function is given the state including what is decided and not yet committed. The checks come
in the order of the original, because clients see which one failed first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from odradek.zookeeper.state import acl
from odradek.zookeeper.state.apply import apply_part
from odradek.zookeeper.state.asker import Asker, Rules
from odradek.zookeeper.state.layer import Layer
from odradek.zookeeper.state.node import TTL_MS_MAX, Node, is_session
from odradek.zookeeper.state.parts import MODES, TTL_MODES, parts_of
from odradek.zookeeper.state.paths import ROOT, UNDELETABLE, is_valid, is_valid_below
from odradek.zookeeper.state.quota import QuotaText, limits_path, stats_path
from odradek.zookeeper.state.tree import OPEN_ACL, OPEN_LIST, Tree
from odradek.zookeeper.wire.codes import CreateMode, Op, Perms
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.data import ACL
from odradek.zookeeper.wire.messages.requests import (
    CheckVersionRequest,
    CreateRequest,
    CreateTTLRequest,
    DeleteRequest,
    ReconfigRequest,
    SetACLRequest,
    SetDataRequest,
)
from odradek.zookeeper.wire.messages.txn import (
    CheckVersionTxn,
    CloseSessionTxn,
    CreateContainerTxn,
    CreateSessionTxn,
    CreateTTLTxn,
    CreateTxn,
    DeleteTxn,
    ErrorTxn,
    SetACLTxn,
    SetDataTxn,
    TxnHeader,
)
from odradek.zookeeper.wire.multi import MultiRequest
from odradek.zookeeper.wire.transactions import TypedMultiTxn

Txn = Record | TypedMultiTxn
CREATE, WRITE = Perms.CREATE, Perms.WRITE
EPHEMERAL_MODES = frozenset({CreateMode.EPHEMERAL, CreateMode.EPHEMERAL_SEQUENTIAL})
SEQUENTIAL_MODES = frozenset(
    {
        CreateMode.PERSISTENT_SEQUENTIAL,
        CreateMode.EPHEMERAL_SEQUENTIAL,
        CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL,
    }
)


@dataclass(slots=True)
class Situation:
    """All that a decision depends on."""

    layer: Layer
    tree: Tree  # Quotas are measured against what is committed.
    rules: Rules
    asker: Asker

    def allows(self, node: Node, perms: int) -> bool:
        if node.acl is OPEN_ACL or self.rules.skips_acl:
            return True  # Nearly always.
        return acl.allows(node.acl, perms, self.asker.ids)

    def exceeds_quota(
        self, path: str, data: bytes | None, before: bytes | None, nodes_more: int
    ) -> bool:
        """Whether a write would pass a hard limit of what it changes, if only to make it less."""
        covering = self.tree.quotas.covering(path)
        if covering is None:
            return False
        limits, used = self.tree.get(limits_path(covering)), self.tree.get(stats_path(covering))
        if limits is None or used is None:
            return False
        limit, use = QuotaText.parse(limits.data), QuotaText.parse(used.data)
        count, is_count_hard = limit.limit_of_count()
        data_bytes, is_bytes_hard = limit.limit_of_bytes()
        bytes_more = len(data or b"") - len(before or b"")
        has_too_many = nodes_more and is_count_hard and use.count + nodes_more > count
        is_too_large = bytes_more and is_bytes_hard and use.data_bytes + bytes_more > data_bytes
        return bool(has_too_many or is_too_large)


def int32(number: int) -> int:
    """Versions wrap around, as Java's do."""
    return (number + 2**31) % 2**32 - 2**31 if number > 0x7FFFFFFF else number


def decide(now: Situation, header: TxnHeader, op: int, request: Any) -> Txn | Error:
    """Decide one request, as a whole or as a part of a multi."""
    return DECIDERS[op](now, header, request)


def makes_ephemerals(op: int, request: Any) -> bool:
    """Whether a request would give znodes to its session, were it granted."""
    if op == Op.MULTI:
        parts = request.operations if isinstance(request, MultiRequest) else ()
        return any(makes_ephemerals(each, part) for each, part in parts)
    return op in (Op.CREATE, Op.CREATE2) and request.flags in EPHEMERAL_MODES


def decide_create(now: Situation, header: TxnHeader, request: CreateRequest) -> Txn | Error:
    made = _new_node(now, request, -1)
    if type(made) is Error:
        return made
    path, entries, cversion = made
    return CreateTxn(path, request.data, entries, request.flags in EPHEMERAL_MODES, cversion)


def decide_create_container(
    now: Situation, header: TxnHeader, request: CreateRequest
) -> Txn | Error:
    made = _new_node(now, request, ttl_ms=-1)
    if isinstance(made, Error):
        return made
    path, entries, cversion = made
    return CreateContainerTxn(path, request.data, entries, cversion)


def decide_create_ttl(now: Situation, header: TxnHeader, request: CreateTTLRequest) -> Txn | Error:
    if request.flags not in TTL_MODES:
        # The original lets a negative time to live pass here, and falls over it later.
        return Error.BAD_ARGUMENTS
    made = _new_node(now, request, ttl_ms=request.ttl)
    if isinstance(made, Error):
        return made
    path, entries, cversion = made
    return CreateTTLTxn(path, request.data, entries, cversion, request.ttl)


def _new_node(
    now: Situation, request: CreateRequest | CreateTTLRequest, ttl_ms: int
) -> tuple[str, list[ACL], int] | Error:
    """The path, the ACL and the parent's new cversion of a node that may be made."""
    path, flags = request.path, request.flags
    if flags and (refused := _refuse_mode(now.rules, flags, ttl_ms)):
        return refused
    slash = path.rfind("/")
    if slash == -1 or "\0" in path:
        return Error.BAD_ARGUMENTS
    entries = acl.fix(request.acl, now.asker.ids) if request.acl is not OPEN_LIST else OPEN_LIST
    if type(entries) is Error:
        return entries
    get = now.layer.get
    parent = get(path[:slash] or ROOT)
    if parent is None:
        return Error.NO_NODE
    if not now.allows(parent, CREATE):
        return Error.NO_AUTH
    if flags and flags in SEQUENTIAL_MODES:
        path += f"{parent.cversion:010d}"
    if not is_valid_below(path, slash):
        return Error.BAD_ARGUMENTS
    if get(path) is not None:
        return Error.NODE_EXISTS
    if parent.owner and is_session(parent.owner):
        return Error.NO_CHILDREN_FOR_EPHEMERALS
    if now.rules.enforces_quotas and now.exceeds_quota(path, request.data, None, nodes_more=1):
        return Error.QUOTA_EXCEEDED
    return path, entries, int32(parent.cversion + 1)


def _refuse_mode(rules: Rules, flags: int, ttl_ms: int) -> Error | None:
    if flags not in MODES:
        return Error.BAD_ARGUMENTS
    if flags in TTL_MODES:
        if not rules.allows_ttl:
            return Error.UNIMPLEMENTED
        return None if 0 < ttl_ms <= TTL_MS_MAX else Error.BAD_ARGUMENTS
    return Error.BAD_ARGUMENTS if ttl_ms >= 0 else None


def decide_delete(now: Situation, header: TxnHeader, request: DeleteRequest) -> Txn | Error:
    path = request.path
    slash = path.rfind("/")
    if slash == -1 or "\0" in path or path in UNDELETABLE:
        return Error.BAD_ARGUMENTS
    parent = now.layer.get(path[:slash] or ROOT)
    if parent is None:
        return Error.NO_NODE
    if not now.allows(parent, Perms.DELETE):
        return Error.NO_AUTH
    node = now.layer.get(path)
    if node is None:
        return Error.NO_NODE
    if request.version not in (-1, node.version):
        return Error.BAD_VERSION
    if node.child_count:
        return Error.NOT_EMPTY
    return DeleteTxn(path)


def decide_delete_container(now: Situation, header: TxnHeader, path: str) -> Txn | Error:
    """Asked for by the server itself, which may have looked some time ago."""
    node = now.layer.get(path)
    if node is None:
        return Error.NO_NODE
    if node.child_count:
        return Error.NOT_EMPTY
    if is_session(node.owner):
        return Error.BAD_VERSION
    return DeleteTxn(path)


def decide_set_data(now: Situation, header: TxnHeader, request: SetDataRequest) -> Txn | Error:
    path = request.path
    node = now.layer.get(path)
    if node is None or not path:
        return Error.NO_NODE if is_valid(path) else Error.BAD_ARGUMENTS
    if not now.allows(node, WRITE):
        return Error.NO_AUTH
    if now.rules.enforces_quotas and now.exceeds_quota(path, request.data, node.data, nodes_more=0):
        return Error.QUOTA_EXCEEDED
    if request.version != -1 and request.version != node.version:
        return Error.BAD_VERSION
    return SetDataTxn(path, request.data, int32(node.version + 1))


def decide_set_acl(now: Situation, header: TxnHeader, request: SetACLRequest) -> Txn | Error:
    path = request.path
    if not is_valid(path):
        return Error.BAD_ARGUMENTS
    entries = acl.fix(request.acl, now.asker.ids)
    if isinstance(entries, Error):
        return entries
    node = now.layer.get(path)
    if node is None:
        return Error.NO_NODE
    if not now.allows(node, Perms.ADMIN):
        return Error.NO_AUTH
    if request.version not in (-1, node.aversion):
        return Error.BAD_VERSION
    return SetACLTxn(path, entries, int32(node.aversion + 1))


def decide_check(now: Situation, header: TxnHeader, request: CheckVersionRequest) -> Txn | Error:
    path = request.path
    if not is_valid(path):
        return Error.BAD_ARGUMENTS
    node = now.layer.get(path)
    if node is None:
        return Error.NO_NODE
    if not now.allows(node, Perms.READ):
        return Error.NO_AUTH
    if request.version not in (-1, node.version):
        return Error.BAD_VERSION
    return CheckVersionTxn(path, int32(node.version + 1))


def decide_create_session(now: Situation, header: TxnHeader, txn: CreateSessionTxn) -> Txn | Error:
    return txn


def decide_close_session(now: Situation, header: TxnHeader, request: None) -> Txn | Error:
    return CloseSessionTxn(sorted(now.layer.ephemerals_of(now.asker.session_id)))


def decide_reconfig(
    now: Situation, header: TxnHeader, request: ReconfigRequest | SetDataRequest
) -> Txn | Error:
    """A leader says what the new membership is; a server that is alone has no members to change."""
    if not now.rules.allows_reconfig:
        return Error.RECONFIG_DISABLED
    if isinstance(request, ReconfigRequest):
        return Error.UNIMPLEMENTED
    node = now.layer.get(request.path)
    if node is None:
        return Error.NO_NODE
    if not now.allows(node, Perms.WRITE):
        return Error.NO_AUTH
    return SetDataTxn(request.path, request.data, -1)


def decide_multi(now: Situation, header: TxnHeader, request: MultiRequest | None) -> Txn | Error:
    """All parts on a layer of their own. If one is refused, all are logged as errors."""
    operations = parts_of(request)
    if operations is None:
        return Error.MARSHALLING_ERROR
    trial = Layer(now.layer)
    trial.begin()
    then = Situation(trial, now.tree, now.rules, now.asker)
    parts: list[tuple[int, Record]] = []
    for op, part in operations:
        txn = decide(then, header, op, part)
        if txn is Error.MARSHALLING_ERROR:
            return txn
        if isinstance(txn, Error):
            return _refused_multi(len(parts), txn, len(operations))
        assert isinstance(txn, Record)
        apply_part(trial, header, op, txn)
        parts.append((op, txn))
    return TypedMultiTxn(parts)


def _refused_multi(refused_at: int, error: Error, count: int) -> TypedMultiTxn:
    errors = [Error.OK] * refused_at + [error]
    errors += [Error.RUNTIME_INCONSISTENCY] * (count - len(errors))
    return TypedMultiTxn([(Op.ERROR, ErrorTxn(each)) for each in errors])


DECIDERS: dict[int, Callable[[Situation, TxnHeader, Any], Txn | Error]] = {
    Op.CREATE: decide_create,
    Op.CREATE2: decide_create,
    Op.CREATE_CONTAINER: decide_create_container,
    Op.CREATE_TTL: decide_create_ttl,
    Op.DELETE: decide_delete,
    Op.DELETE_CONTAINER: decide_delete_container,
    Op.SET_DATA: decide_set_data,
    Op.SET_ACL: decide_set_acl,
    Op.CHECK: decide_check,
    Op.RECONFIG: decide_reconfig,
    Op.CREATE_SESSION: decide_create_session,
    Op.CLOSE_SESSION: decide_close_session,
    Op.MULTI: decide_multi,
}
