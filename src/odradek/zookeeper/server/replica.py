"""A member's copy of the state, and what its clients want of it.

    leader     decides writes, its own clients' and those that learners hand on; a write is the
               oldest that is pending when its commit comes
    learner    hands writes and syncs on; when a commit names a session and a request of ours, that
               client is answered. What one session asks for comes back in order

Sessions belong to the ensemble: they are opened and closed by what is committed, and only a leader
lets them expire. It remembers through whom a session last came: a request that comes another way
was sent before the client moved, and is refused.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

from odradek.runtime.clock import wall_clock
from odradek.runtime.errors import ProtocolError
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.server.clients import Clients
from odradek.zookeeper.server.connection import WRITES, Connection
from odradek.zookeeper.server.log_writer import LogWriter
from odradek.zookeeper.server.pipeline import Forwarded, Origin
from odradek.zookeeper.server.stats import Sizes
from odradek.zookeeper.state.asker import NOBODY, Asker
from odradek.zookeeper.state.decide import makes_ephemerals
from odradek.zookeeper.state.paths import CONFIG
from odradek.zookeeper.state.processor import Happening, Processor, Proposal
from odradek.zookeeper.state.sessions import Session, Sessions
from odradek.zookeeper.state.tree import DIGEST_MASK, Tree
from odradek.zookeeper.wire.codes import Op, ServerState
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.quorum import SessionTouch
from odradek.zookeeper.wire.messages.requests import ReconfigRequest, SetDataRequest, SyncRequest
from odradek.zookeeper.wire.messages.responses import SyncResponse
from odradek.zookeeper.wire.messages.txn import CreateSessionTxn, TxnDigest, TxnHeader
from odradek.zookeeper.wire.quorum import ForwardedRequest
from odradek.zookeeper.wire.requests import Request, decode_body
from odradek.zookeeper.wire.transactions import TxnEntry
from odradek.zookeeper.zab.effects import Decide, Revalidate
from odradek.zookeeper.zab.peer import Peer
from odradek.zookeeper.zab.reconfiguration import decide_membership

# Plain numbers are compared in a third of the time that members of an enumeration take.
SYNC, RECONFIG = int(Op.SYNC), int(Op.RECONFIG)
CREATE_SESSION, CLOSE_SESSION = int(Op.CREATE_SESSION), int(Op.CLOSE_SESSION)
LEADING = ServerState.LEADING

OURS = 0  # The owner of a session whose client is here; links of learners count from 1.
OF_SESSIONS = frozenset({CREATE_SESSION, CLOSE_SESSION})


class Replica:
    """The state of a member while it has a role, and between roles."""

    def __init__(
        self,
        peer: Peer,
        clients: Clients,
        new_processor: Callable[[], Processor],
        timeouts: dict[int, int],
        writer: LogWriter,
        wake: Callable[[], None],
        note: NodeLog,
        *,
        standalone_enabled: bool,
        has_local_sessions: bool,
        upgrades_sessions: bool,
    ) -> None:
        self.clients = clients
        self.processor = new_processor()
        self.timeouts = timeouts  # Of all sessions that are committed, by id.
        self.outstanding = 0
        self.proposal_sizes = Sizes()
        self.proposal_count = self.commit_count = 0
        self.sync_ms = writer.sync_ms
        self.batch_sizes = writer.batch_sizes
        self.state = ServerState.LOOKING
        self._peer = peer
        self._new_processor = new_processor
        self._wake = wake
        self._note = note
        self._standalone_enabled = standalone_enabled
        self._has_local_sessions = has_local_sessions
        self._upgrades_sessions = upgrades_sessions
        self._wall_ms = wall_clock()
        self._clock = asyncio.get_running_loop().time
        self._owners: dict[int, int] = {}  # Links by session, on a leader.
        self._pending: deque[tuple[Proposal, Origin | None]] = deque()
        self._forwarded: dict[int, deque[Forwarded]] = {}  # By session.
        self._syncs: deque[Forwarded] = deque()
        self._revalidating: dict[int, tuple[Connection, int]] = {}  # By session, with time-outs.
        self._compares_digests = False
        clients.pipeline = self
        clients.ordered = WRITES | {Op.SYNC}
        clients.revalidate = self._revalidate
        clients.is_serving = False

    @property
    def is_leading(self) -> bool:
        return self.state is LEADING

    def now_ms(self) -> int:
        return int(self._clock() * 1000)

    # Roles

    def serve(self, state: ServerState, zxid: int, epoch_zxid: int, config: str) -> None:
        """Open for clients; a leader gives out zxids behind `zxid`."""
        tree = self.clients.tree
        # All servers of an epoch say that they have come to it, or a client that has heard so
        # from one of them could not go to another before something is written.
        tree.last_zxid = max(tree.last_zxid, epoch_zxid)
        tree.is_fuzzy = False  # All that was committed while it was sent has come behind it.
        set_config(tree, config, self._wall_ms())
        self.state = state
        self._renew()
        if self.is_leading:
            self.processor.zxid = zxid
        self.clients.report = None if self.is_leading else self._peer.touch
        self.clients.opens_locally = self._has_local_sessions
        self._compares_digests = True
        self.clients.is_serving = True

    def serve_reads(self) -> None:
        """There is no leader: let those clients in who only want to read what we have."""
        self._renew()
        self.clients.is_read_only = self.clients.is_serving = True

    def retire(self, reason: str) -> None:
        """Serve nobody, and forget what was asked and is not committed."""
        self.state = ServerState.LOOKING
        self.clients.is_serving = self.clients.is_read_only = False
        self.clients.report = None
        self.clients.drop_all(reason)
        self._pending.clear()
        self._forwarded.clear()
        self._syncs.clear()
        self._revalidating.clear()
        self._owners.clear()
        self.outstanding = 0
        self._compares_digests = False
        self._renew()

    def replace(self, tree: Tree, timeouts: dict[int, int]) -> None:
        """Take another state for ours; nobody is being served."""
        self.clients.tree = tree
        self.timeouts = timeouts
        self._renew()

    def _renew(self) -> None:
        """Begin with what is committed, and give every session its full time."""
        digests = self.processor.digests
        self.processor = self._new_processor()
        self.processor.digests = digests
        tick_ms = self.clients.sessions.tick_ms
        self.clients.local = Sessions(tick_ms)
        sessions = self.clients.sessions = Sessions(tick_ms)
        for session_id, timeout_ms in self.timeouts.items():
            sessions.open(session_id, timeout_ms, self.now_ms())

    # Requests

    def propose(
        self,
        asker: Asker,
        cxid: int,
        op: int,
        request: Any,
        origin: Origin | None,
        asked: Request | None = None,
    ) -> Proposal | Forwarded:
        """Put a write, or a sync, on its way."""
        if self.clients.is_read_only:
            return self._answer_alone(asker, cxid, op, origin)
        if local := self.clients.local.by_id.get(asker.session_id):
            if op == Op.CLOSE_SESSION and asker.session_id not in self._forwarded:
                return self._answer_alone(asker, cxid, op, origin)
            if self._upgrades_sessions and makes_ephemerals(op, request):
                self._upgrade(local, asker)
        if op == SYNC:
            return self._sync(asker, cxid, request, origin, asked)
        if self.state is LEADING:
            return self._decide(OURS, asker, cxid, op, request, origin)
        body = asked.body if asked is not None else request.encode() if request else b""
        header = TxnHeader(asker.session_id, cxid, 0, 0, op)
        write = Forwarded(op, header, origin)
        self._forwarded.setdefault(asker.session_id, deque()).append(write)
        self.outstanding += 1
        self._forward(header, asker, body)
        return write

    def _answer_alone(self, asker: Asker, cxid: int, op: int, origin: Origin | None) -> Forwarded:
        """Nobody else is asked: a session of our own ends, or we cannot write at all."""
        zxid = self.clients.tree.last_zxid
        write = Forwarded(op, TxnHeader(asker.session_id, cxid, zxid, 0, op), origin)
        asyncio.get_running_loop().call_soon(self._answered_alone, write)
        return write

    def _answered_alone(self, write: Forwarded) -> None:
        self.clients.begin()
        is_over = write.op == Op.CLOSE_SESSION
        if is_over:
            self.clients.forget_local(write.header.client_id)
        if write.origin is not None:
            write.origin.committed(write, None if is_over else Error.NOT_READ_ONLY)
        self.clients.flush()

    def _upgrade(self, local: Session, asker: Asker) -> None:
        """Make a session of our own one of the ensemble, before it gets znodes."""
        session_id, timeout_ms = local.session_id, local.timeout_ms
        connection = self.clients.by_session[session_id]
        self.clients.local.close(session_id)
        connection.attach(self.clients.sessions.open(session_id, timeout_ms, self.now_ms()))
        self.propose(asker, 0, Op.CREATE_SESSION, CreateSessionTxn(timeout_ms), None)

    def _sync(
        self,
        asker: Asker,
        cxid: int,
        request: SyncRequest,
        origin: Origin | None,
        asked: Request | None,
    ) -> Forwarded:
        header = TxnHeader(asker.session_id, cxid, 0, 0, Op.SYNC)
        sync = Forwarded(Op.SYNC, header, origin, SyncResponse(request.path))
        self._syncs.append(sync)
        self.outstanding += 1
        if self.is_leading:
            self._peer.sync(None)
            self._wake()
        else:
            self._forward(header, asker, asked.body if asked else request.encode())
        return sync

    def _forward(self, header: TxnHeader, asker: Asker, body: bytes) -> None:
        request = ForwardedRequest(header.client_id, header.cxid, header.type, body)
        self._peer.forward(request, asker.ids)
        self._wake()

    def decide(self, effect: Decide) -> None:
        """A learner hands on what a client of its asked for."""
        request, link = effect.request, effect.link
        asker = Asker(request.session_id, list(effect.authinfo))
        if request.type == SYNC:
            self._peer.sync(link)
            return
        try:
            record = decode_body(request.type, request.body)
        except ProtocolError:
            if request.type != Op.MULTI:
                self._refuse(asker, request.cxid, request.type, Error.MARSHALLING_ERROR, None)
                return
            record = None  # Of all writes that make no sense, this one is decided upon.
        self._decide(link, asker, request.cxid, request.type, record, None)

    def _decide(
        self, owner: int, asker: Asker, cxid: int, op: int, request: Any, origin: Origin | None
    ) -> Proposal:
        if refusal := self._why_not(owner, asker, op, request):
            return self._refuse(asker, cxid, op, refusal, origin)
        if op == CREATE_SESSION:
            self.clients.sessions.open(asker.session_id, request.time_out, self.now_ms())
            self._owners[asker.session_id] = owner
        elif op == CLOSE_SESSION and (session := self.clients.sessions.by_id.get(asker.session_id)):
            session.is_closing = True
        elif op == RECONFIG and self.clients.rules.allows_reconfig:
            request = self._new_members(request)
            if isinstance(request, Error):
                return self._refuse(asker, cxid, op, request, origin)
        proposal = self.processor.prepare(asker, cxid, op, request, self._wall_ms())
        return self._put(proposal, origin)

    def _new_members(self, request: ReconfigRequest) -> SetDataRequest | Error:
        """The data that the change of members gives to the configuration, if it may be tried."""
        members = decide_membership(
            self._peer.history.configuration,
            request,
            self.processor.zxid + 1,
            self._standalone_enabled,
        )
        if isinstance(members, Error):
            return members
        leader = self._peer.leader
        if leader is None or not leader.is_synced(members.quorums):
            return Error.NEW_CONFIG_NO_QUORUM
        return SetDataRequest(CONFIG, members.text.encode(), -1)

    def _why_not(self, owner: int, asker: Asker, op: int, request: Any) -> Error | None:
        """Why a request is not even looked at, if so."""
        session_id = asker.session_id
        if op in OF_SESSIONS or asker is NOBODY:
            return None
        session = self.clients.sessions.by_id.get(session_id)
        if session is None and self._is_local(owner, session_id):
            return Error.EPHEMERAL_ON_LOCAL_SESSION if makes_ephemerals(op, request) else None
        if session is None or session.is_closing:
            return Error.SESSION_EXPIRED
        if self._owners.setdefault(session_id, owner) != owner:
            return Error.SESSION_MOVED
        return None

    def _is_local(self, owner: int, session_id: int) -> bool:
        """Whether this may be a session that only the server knows that it is connected to."""
        if owner == OURS:
            return session_id in self.clients.local.by_id
        return self._has_local_sessions and session_id not in self.timeouts

    def _refuse(
        self, asker: Asker, cxid: int, op: int, error: Error, origin: Origin | None
    ) -> Proposal:
        proposal = self.processor.refuse(asker, cxid, op, error, self._wall_ms())
        return self._put(proposal, origin)

    def _put(self, proposal: Proposal, origin: Origin | None) -> Proposal:
        self._pending.append((proposal, origin))
        self.outstanding += 1
        self.proposal_sizes.observe(len(proposal.entry))
        self.proposal_count += 1
        self._peer.propose(proposal.header.zxid, proposal.entry, self.now_ms())
        self._wake()
        return proposal

    # What is committed

    def commit(self, zxid: int, entry: bytes) -> None:
        """Make a write so, and answer whoever asked for it here."""
        self.commit_count += 1
        if self._pending and self._pending[0][0].header.zxid == zxid:
            self._commit_pending()
            return
        learned = TxnEntry.decode(entry)
        header = learned.header
        write = self._take_forwarded(header)
        answer, happenings = self.processor.learn(
            header,
            learned.record,
            is_watched=bool(self.clients.watches.holders),
            is_awaited=write is not None,
        )
        if learned.digest is not None and self._compares_digests:
            self._compare(learned.digest)
        self._tell(header, learned.record, happenings)
        if write is not None and write.origin is not None:
            write.header = header
            write.origin.committed(write, answer)

    def _commit_pending(self) -> None:
        proposal, origin = self._pending.popleft()
        self.outstanding -= 1
        is_watched = bool(self.clients.watches.holders)
        answer, happenings = self.processor.commit(proposal, is_watched)
        self._tell(proposal.header, proposal.txn, happenings)
        if origin is not None:
            origin.committed(proposal, answer)

    def _take_forwarded(self, header: TxnHeader) -> Forwarded | None:
        """What we handed on and this is the outcome of; the session may have asked elsewhere."""
        line = self._forwarded.get(header.client_id)
        if not line or line[0].header.cxid != header.cxid:
            return None
        write = line.popleft()
        if not line:
            del self._forwarded[header.client_id]
        self.outstanding -= 1
        return write

    def _tell(self, header: TxnHeader, txn: object, happenings: list[Happening]) -> None:
        """Tell of what is committed, before whoever asked for it hears that it is."""
        is_of_session = header.type in OF_SESSIONS
        if is_of_session:
            self._track(header, txn)
        if happenings or is_of_session:
            self.clients.committed(header, happenings)

    def _track(self, header: TxnHeader, txn: object) -> None:
        """Sessions begin and end with their transactions."""
        session_id = header.client_id
        if isinstance(txn, CreateSessionTxn):
            self.timeouts[session_id] = txn.time_out
            if session_id not in self.clients.sessions.by_id:
                self.clients.sessions.open(session_id, txn.time_out, self.now_ms())
        else:
            self.timeouts.pop(session_id, None)
            self._owners.pop(session_id, None)
            self.clients.sessions.close(session_id)

    def _compare(self, digest: TxnDigest) -> None:
        tree = self.clients.tree
        if digest.tree_digest & DIGEST_MASK != tree.digest:
            self._note.error("at %#x the tree differs from the leader's", tree.last_zxid)
            self._compares_digests = False  # From here on all would differ.

    def synced(self) -> None:
        """The oldest sync is done: all that was committed before it is here."""
        if self._syncs:
            sync = self._syncs.popleft()
            self.outstanding -= 1
            sync.header = TxnHeader(0, sync.header.cxid, self.clients.tree.last_zxid, 0, Op.SYNC)
            if sync.origin is not None:
                sync.origin.committed(sync, sync.answer)

    # Sessions that come back

    def _revalidate(self, connection: Connection, session_id: int, timeout_ms: int) -> None:
        if session_id in self.clients.local.by_id:
            self.clients.reopen(connection, session_id, timeout_ms)
            return
        if self.is_leading:
            self._owners[session_id] = OURS
        if self.is_leading or self.clients.is_read_only:
            self.clients.revalidate_here(connection, session_id, timeout_ms)
            return
        # What the client asks before it knows its session is answered after it does.
        connection.throttle()
        if other := self._revalidating.get(session_id):
            other[0].drop("its session came back on another connection")
        self._revalidating[session_id] = connection, timeout_ms
        self._peer.revalidate(session_id, timeout_ms)
        self._wake()

    def revalidated(self, session_id: int, is_valid: bool) -> None:
        """The leader has said whether a session lives."""
        connection, timeout_ms = self._revalidating.pop(session_id, (None, 0))
        if connection is None or connection not in self.clients.connections:
            return
        if is_valid:
            self.clients.reopen(connection, session_id, timeout_ms)
            connection.relieve()
        else:
            connection.refuse()

    def revalidate(self, effect: Revalidate) -> None:
        """A learner asks for a session that came to it."""
        session = self.clients.sessions.by_id.get(effect.touch.session_id)
        is_valid = session is not None and not session.is_closing
        if is_valid:
            self._owners[effect.touch.session_id] = effect.link
            self.touch(effect.touch)
        self._peer.revalidated(effect.link, effect.touch.session_id, is_valid)

    def touch(self, touch: SessionTouch) -> None:
        """A learner heard from a session."""
        if session := self.clients.sessions.by_id.get(touch.session_id):
            session.timeout_ms = touch.time_out
            self.clients.sessions.touch(session, self.now_ms())


def set_config(tree: Tree, text: str, wall_ms: int) -> None:
    """Show the membership in force. This is no write: every server does it for itself."""
    node = tree.get(CONFIG)
    if node is not None and node.data != text.encode():
        node.data = text.encode()
        node.version = -1
        node.mtime = wall_ms
        node.sheet.is_stale = True
