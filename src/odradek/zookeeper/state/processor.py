"""The request processor: from a write that is asked for to its result.

    prepare   decide on the state as it will be, take a zxid, lay the change over the tree
    (log, and in an ensemble replicate: not here)
    commit    apply to the tree, in the order of zxids; give the answer, and what watchers hear

A write that is refused takes a zxid and is logged too, as an error: its answer comes in order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from struct import Struct
from typing import Any, NamedTuple

from odradek.zookeeper.state.apply import APPLIERS, apply, apply_part
from odradek.zookeeper.state.asker import NOBODY, Asker, Rules
from odradek.zookeeper.state.decide import DECIDERS, Situation, Txn
from odradek.zookeeper.state.layer import Changes, Layer
from odradek.zookeeper.state.paths import ROOT, parent_of
from odradek.zookeeper.state.reads import Answer
from odradek.zookeeper.state.tree import Acl, Tree
from odradek.zookeeper.wire.codes import EventType, Op
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.packed import PackedCreate2, PackedData, PackedStat
from odradek.zookeeper.wire.messages.responses import CreateResponse, ErrorResponse
from odradek.zookeeper.wire.messages.txn import CloseSessionTxn, ErrorTxn, TxnHeader
from odradek.zookeeper.wire.multi import MultiResponse
from odradek.zookeeper.wire.transactions import TypedMultiTxn, encode_start

DIGEST_VERSION = 2
TXN_DIGEST = Struct(">iQ").pack  # As the record `TxnDigest`, but for the sign.
DIGEST_INTERVAL = 128
DIGESTS_KEPT = 1024
ERROR_CODES = frozenset(Error)
ERROR, MULTI = int(Op.ERROR), int(Op.MULTI)  # Plain numbers are compared in a third of the time.


class Happening(NamedTuple):
    """Something that watchers may hear of, if the ACL lets them read."""

    event: int
    path: str
    acl: Acl


@dataclass(slots=True)
class Proposal:
    """A write on its way: decided, with a zxid, not yet committed."""

    op: int  # As asked; the header says ERROR if it was refused.
    header: TxnHeader
    txn: Txn
    entry: bytes  # What is logged and replicated.
    changes: Changes = field(default_factory=dict)  # What it makes of the nodes it touches.


class Processor:
    """The tree, what is laid over it, and the zxid of the newest of all."""

    def __init__(self, tree: Tree, rules: Rules, *, has_digests: bool = True) -> None:
        self.tree = tree
        self.layer = Layer(tree)
        self.zxid = tree.last_zxid
        self._has_digests = has_digests
        self.digests: deque[tuple[int, int]] = deque(maxlen=DIGESTS_KEPT)  # Each with its zxid.
        self._now = Situation(self.layer, tree, rules, NOBODY)

    def prepare(self, asker: Asker, cxid: int, op: int, request: Any, wall_ms: int) -> Proposal:
        """Decide a write, and let the next one see it as done."""
        layer, now = self.layer, self._now
        zxid = self.zxid = self.zxid + 1
        header = TxnHeader(asker.session_id, cxid, zxid, wall_ms, op)
        changes = layer.begin()
        now.asker = asker
        txn = DECIDERS[op](now, header, request)
        if type(txn) is Error:
            return refused(asker, cxid, op, txn, zxid, wall_ms)
        if op in APPLIERS:
            APPLIERS[op](layer, header, txn)
        entry = encode_start(header, txn)
        if self._has_digests:
            entry += TXN_DIGEST(DIGEST_VERSION, layer.digest)
        return Proposal(op, header, txn, entry, changes)

    def refuse(self, asker: Asker, cxid: int, op: int, error: Error, wall_ms: int) -> Proposal:
        """Answer a write in its turn that is not even looked at."""
        zxid = self.zxid = self.zxid + 1
        return refused(asker, cxid, op, error, zxid, wall_ms)

    def commit(
        self, proposal: Proposal, is_watched: bool = True
    ) -> tuple[Answer | Error, list[Happening]]:
        """Make it so; give the answer, and (if anyone watches) what happened, in order."""
        header, txn, tree = proposal.header, proposal.txn, self.tree
        op, zxid = header.type, header.zxid
        happenings: list[Happening] = []
        answer: Answer | Error
        if op == ERROR:
            assert isinstance(txn, ErrorTxn)
            answer = Error(txn.err)
        elif op == MULTI:
            # Each part is answered with the stat that it left, so each is applied by itself.
            assert isinstance(txn, TypedMultiTxn)
            self.layer.forget(proposal.changes)
            answer, happenings = self._commit_multi(header, txn)
        else:
            if is_watched:
                happenings = what_happens(tree, op, txn)
            changes = proposal.changes
            self.layer.forget(changes)
            tree.adopt(changes)
            answer = RESULTS[op](tree, txn) if op in RESULTS else None
        tree.last_zxid = zxid
        if zxid % DIGEST_INTERVAL == 0:
            self.digests.append((zxid, tree.digest))
        return answer, happenings

    def learn(
        self, header: TxnHeader, txn: Any, *, is_watched: bool, is_awaited: bool
    ) -> tuple[Answer | Error, list[Happening]]:
        """Make a write so that another server decided; the layer must be empty.

        As long as nobody watches or waits, the tree may still be fuzzy.
        """
        answer: Answer | Error = None
        happenings: list[Happening] = []
        if isinstance(txn, ErrorTxn):
            answer = Error(txn.err) if txn.err in ERROR_CODES else Error.SYSTEM_ERROR
        elif not is_watched and not is_awaited:
            apply(self.tree, header, txn)
        elif isinstance(txn, TypedMultiTxn):
            answer, happenings = self._commit_multi(header, txn)
        else:
            if txn is None and header.type == Op.CLOSE_SESSION:
                txn = CloseSessionTxn(sorted(self.tree.ephemerals_of(header.client_id)))
            if is_watched:
                happenings = what_happens(self.tree, header.type, txn)
            apply(self.tree, header, txn)
            answer = result_of(self.tree, header.type, txn)
        zxid = self.tree.last_zxid = header.zxid
        if zxid % DIGEST_INTERVAL == 0:
            self.digests.append((zxid, self.tree.digest))
        return answer, happenings

    def _commit_multi(
        self, header: TxnHeader, txn: TypedMultiTxn
    ) -> tuple[MultiResponse, list[Happening]]:
        results: list[tuple[int, Record | None]] = []
        happenings: list[Happening] = []
        for op, part in txn.txns:
            if isinstance(part, ErrorTxn):
                results.append((Op.ERROR, ErrorResponse(part.err)))
                continue
            happenings += what_happens(self.tree, op, part)
            apply_part(self.tree, header, op, part)
            result = result_of(self.tree, op, part)
            shown = Op.CREATE2 if isinstance(result, PackedCreate2) else op
            results.append((shown, result))
        return MultiResponse(results), happenings


def refused(asker: Asker, cxid: int, op: int, error: Error, zxid: int, wall_ms: int) -> Proposal:
    header = TxnHeader(asker.session_id, cxid, zxid, wall_ms, Op.ERROR)
    txn = ErrorTxn(error)
    return Proposal(op, header, txn, encode_start(header, txn))


def result_of(tree: Tree, op: int, txn: Any) -> Record | None:
    """What the client is told of a write that is done."""
    return RESULTS[op](tree, txn) if op in RESULTS else None


def _created(tree: Tree, txn: Any) -> Record:
    return CreateResponse(txn.path)


def _created_with_stat(tree: Tree, txn: Any) -> Record:
    return PackedCreate2(txn.path, tree.nodes[txn.path].packed_stat())


def _changed(tree: Tree, txn: Any) -> Record:
    return PackedStat(tree.nodes[txn.path].packed_stat())


def _reconfigured(tree: Tree, txn: Any) -> Record:
    return PackedData(txn.data, tree.nodes[txn.path].packed_stat())


RESULTS: dict[int, Callable[[Tree, Any], Record]] = {
    Op.CREATE: _created,
    Op.CREATE2: _created_with_stat,
    Op.CREATE_CONTAINER: _created_with_stat,
    Op.CREATE_TTL: _created_with_stat,
    Op.SET_DATA: _changed,
    Op.SET_ACL: _changed,
    Op.RECONFIG: _reconfigured,
}


def what_happens(tree: Tree, op: int, txn: Any) -> list[Happening]:
    """What a write, which is about to be applied, lets watchers hear of."""
    if op in CREATES:
        return _about(tree, EventType.CREATED, txn.path, tree.share_list(txn.acl))
    if op in (Op.SET_DATA, Op.RECONFIG):
        return [Happening(EventType.DATA_CHANGED, txn.path, tree.nodes[txn.path].acl)]
    if op in (Op.DELETE, Op.DELETE_CONTAINER):
        return _gone(tree, txn.path)
    if op == Op.CLOSE_SESSION:
        return [each for path in txn.paths_to_delete for each in _gone(tree, path)]
    return []


def _gone(tree: Tree, path: str) -> list[Happening]:
    return _about(tree, EventType.DELETED, path, tree.nodes[path].acl)


def _about(tree: Tree, event: int, path: str, acl: Acl) -> list[Happening]:
    """What happens to a znode, and then to its parent."""
    parent = parent_of(path) or ROOT
    children_changed = Happening(EventType.CHILDREN_CHANGED, parent, tree.nodes[parent].acl)
    return [Happening(event, path, acl), children_changed]


CREATES = frozenset({Op.CREATE, Op.CREATE2, Op.CREATE_CONTAINER, Op.CREATE_TTL})
