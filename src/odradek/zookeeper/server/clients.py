"""All clients of one server: who is connected, who speaks for which session, who watches what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from odradek.runtime.frames import SCRATCH_BYTES
from odradek.runtime.gathering import Gathering
from odradek.runtime.lingering import Lingering
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.server.connection import WRITES, Connection
from odradek.zookeeper.server.pipeline import Writes
from odradek.zookeeper.server.stats import Stats
from odradek.zookeeper.state import acl
from odradek.zookeeper.state.asker import Asker, Rules
from odradek.zookeeper.state.processor import Happening
from odradek.zookeeper.state.sessions import Session, Sessions, password_of
from odradek.zookeeper.state.tree import OPEN_ACL, Acl, Tree
from odradek.zookeeper.state.watches import Watches
from odradek.zookeeper.wire.codes import KeeperState, Op, Perms
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.responses import WatcherEvent
from odradek.zookeeper.wire.messages.session import ConnectRequest
from odradek.zookeeper.wire.messages.txn import CreateSessionTxn, TxnHeader
from odradek.zookeeper.wire.replies import encode_notification
from odradek.zookeeper.wire.words import FourLetterWord


def unheard(word: FourLetterWord, connection: Connection) -> bytes:
    """Stands in until somebody knows what to say."""
    return b""


@dataclass(slots=True, frozen=True)
class ClientSettings:
    """What clients are held to."""

    frame_bytes_max: int
    timeout_min_ms: int
    timeout_max_ms: int
    connections_an_address_max: int  # 0 is no limit.
    connections_max: int
    outstanding_max: int
    silence_max_s: float  # How long a connection may take to ask for a session.
    super_digest: str | None


class Clients:
    """The connections of a server, and the state that they share."""

    def __init__(
        self,
        settings: ClientSettings,
        tree: Tree,
        rules: Rules,
        sessions: Sessions,
        next_session_id: int,
        note: NodeLog,
    ) -> None:
        self.settings = settings
        self.tree = tree
        self.rules = rules
        self.sessions = sessions
        self.watches = Watches()
        self.stats = Stats()
        self.is_serving = True
        self.is_read_only = False  # Without a leader: only clients that can live with that.
        self.opens_locally = False  # Whether a new session is known to us alone, at first.
        self.local = Sessions(sessions.tick_ms)  # Those that are known to us alone.
        self.ordered = WRITES  # What is done in turn with all writes.
        self.revalidate = self.revalidate_here
        self.report: Callable[[int, int], None] | None = None  # Hears of each living session.
        self.hear_word: Callable[[FourLetterWord, Connection], bytes] = unheard
        self.note = note
        self.pipeline: Writes  # Given once it is made: it needs us, and we need it.
        self.connections: dict[Connection, None] = {}  # In the order of their arrival.
        self.by_session: dict[int, Connection] = {}
        self.to_flush: dict[Connection, None] = {}
        self.committing_ms = 0  # When the present batch of writes was safe.
        self.scratch = bytearray(SCRATCH_BYTES)  # What arrives has a buffer of its own anyway.
        self.lingering = Lingering()
        self.gathering = Gathering()
        self._clock = asyncio.get_running_loop().time  # In 3.11, asking costs a system call.
        self._by_address: dict[str, int] = {}
        self._next_session_id = next_session_id
        self._throttled: list[Connection] = []

    # Coming and going

    def admit(self, connection: Connection) -> bool:
        """Take a new connection, unless there are too many."""
        here = self._by_address.get(connection.address, 0)
        most, most_here = self.settings.connections_max, self.settings.connections_an_address_max
        if (most and len(self.connections) >= most) or (most_here and here >= most_here):
            self.stats.counts.connection_rejected += 1
            self.note.warning("too many connections from %s", connection.address)
            return False
        self._by_address[connection.address] = here + 1
        self.connections[connection] = None
        loop = asyncio.get_running_loop()
        patience_s = self.settings.silence_max_s
        connection.deadline = loop.call_later(patience_s, self._drop_silent, connection)
        return True

    def _drop_silent(self, connection: Connection) -> None:
        self.stats.counts.sessionless_connections_expired += 1
        connection.drop("it says nothing")

    def forget(self, connection: Connection) -> None:
        """A connection is gone; its session may come back on another."""
        if connection not in self.connections:
            return
        del self.connections[connection]
        self.to_flush.pop(connection, None)
        self.stats.take_over(connection.tally)
        self.watches.remove_all(connection)
        here = self._by_address[connection.address] - 1
        if here:
            self._by_address[connection.address] = here
        else:
            del self._by_address[connection.address]
        if connection.session and self.by_session.get(connection.asker.session_id) is connection:
            del self.by_session[connection.asker.session_id]
        connection.deadline.cancel()

    def close_all(self) -> None:
        """The server stops: clients will look for another."""
        for connection in list(self.connections):
            connection.hang_up()

    def drop_all(self, why: str) -> None:
        """No client can be served here for now."""
        for connection in list(self.connections):
            connection.drop(why)

    # Sessions

    def refuse(self, request: ConnectRequest) -> str | None:
        """Why this client cannot be served here; it will try another server."""
        if not self.is_serving:
            return "there is no leader to serve it under"
        if self.is_read_only and not request.read_only:
            return "it would write, and there is no leader"
        if request.last_zxid_seen > self.tree.last_zxid:
            return f"it has seen zxid {request.last_zxid_seen:#x}, we only {self.tree.last_zxid:#x}"
        return None

    def connect(self, connection: Connection, request: ConnectRequest) -> None:
        """Open a session, or go on with one."""
        connection.deadline.cancel()
        self.stats.counts.connection_request_count += 1
        least, most = self.settings.timeout_min_ms, self.settings.timeout_max_ms
        timeout_ms = min(max(request.time_out, least), most)
        if request.session_id:
            self._reopen(connection, request, timeout_ms)
            return
        session_id = self._next_session_id
        self._next_session_id += 1
        if self.is_read_only or self.opens_locally:
            self._open_locally(connection, session_id, timeout_ms)
            return
        connection.attach(self.sessions.open(session_id, timeout_ms, self.now_ms()))
        self.by_session[session_id] = connection
        # What the client asks before it knows its session is answered after it does.
        connection.throttle()
        txn = CreateSessionTxn(timeout_ms)
        self.pipeline.propose(connection.asker, 0, Op.CREATE_SESSION, txn, connection)

    def _open_locally(self, connection: Connection, session_id: int, timeout_ms: int) -> None:
        """Open a session that nobody else hears of."""
        session = self.local.open(session_id, timeout_ms, self.now_ms())
        session.is_local = True
        connection.attach(session)
        self.by_session[session_id] = connection
        connection.welcome()

    def _reopen(self, connection: Connection, request: ConnectRequest, timeout_ms: int) -> None:
        if request.passwd != password_of(request.session_id):
            connection.refuse()
        else:
            self.revalidate(connection, request.session_id, timeout_ms)

    def revalidate_here(self, connection: Connection, session_id: int, timeout_ms: int) -> None:
        """Our own table knows whether a session lives."""
        session = self.sessions.by_id.get(session_id)
        if session is None or session.is_closing:
            connection.refuse()
        else:
            self.reopen(connection, session_id, timeout_ms)

    def reopen(self, connection: Connection, session_id: int, timeout_ms: int) -> None:
        """Let a connection go on with a session that lives."""
        if other := self.by_session.get(session_id):
            other.drop("its session came back on another connection")
        sessions = self.local if session_id in self.local.by_id else self.sessions
        connection.attach(sessions.open(session_id, timeout_ms, self.now_ms()))
        self.by_session[session_id] = connection
        connection.welcome()

    def heard(self, connection: Connection) -> None:
        now_ms = connection.arrived_ms = connection.last_reply_ms = self.now_ms()
        connection.last_latency_ms = 0
        session = connection.session
        if session is None:
            return
        if session.is_local:
            self.local.touch(session, now_ms)
            return
        self.sessions.touch(session, now_ms)
        if self.report is not None:
            self.report(session.session_id, session.timeout_ms)

    def expire(self) -> None:
        """Close the sessions that were not heard of for too long."""
        for session in self.sessions.expire(self.now_ms()):
            self.stats.counts.stale_sessions_expired += 1
            self.note.info("session %#x expires", session.session_id)
            self.close(session)

    def expire_local(self) -> None:
        """The same for sessions that only we know: nothing is left of them."""
        for session in self.local.expire(self.now_ms()):
            self.stats.counts.stale_sessions_expired += 1
            self.forget_local(session.session_id)

    def forget_local(self, session_id: int) -> None:
        self.local.close(session_id)
        connection = self.by_session.get(session_id)
        if connection is not None and not connection.is_asking_to_close:
            connection.drop("its session is over")

    def close(self, session: Session) -> None:
        """End a session from our side."""
        session.is_closing = True
        self.pipeline.propose(Asker(session.session_id, []), 0, Op.CLOSE_SESSION, None, None)

    def authenticate(self, connection: Connection, scheme: str, auth: bytes | None) -> Error:
        """Give a connection one more id, if it proves to have it."""
        ids = connection.asker.ids
        if scheme == "ip":
            return Error.OK
        if scheme != "digest" or auth is None:
            return Error.AUTH_FAILED
        digest = acl.digest_of(auth)
        if digest == self.settings.super_digest:
            ids.append(Id(acl.SUPER, ""))
        if (mine := Id("digest", digest)) not in ids:
            ids.append(mine)
        return Error.OK

    def now_ms(self) -> int:
        return int(self._clock() * 1000)

    # What happens

    def begin(self) -> None:
        self.committing_ms = self.now_ms()

    def committed(self, header: TxnHeader, happenings: list[Happening]) -> None:
        if happenings:
            self._tell(header.zxid, happenings)
        if header.type == Op.CLOSE_SESSION:
            session_id = header.client_id
            self.sessions.close(session_id)
            connection = self.by_session.get(session_id)
            if connection is not None and not connection.is_asking_to_close:
                connection.drop("its session is over")

    def _tell(self, zxid: int, happenings: list[Happening]) -> None:
        for event, path, entries in happenings:
            watchers = self.watches.trigger(event, path)
            if watchers:
                self.stats.told(event, len(watchers))
            for watcher in watchers:
                assert isinstance(watcher, Connection)
                if self._may_hear(watcher, entries):
                    self.notify(watcher, zxid, event, path)

    def _may_hear(self, watcher: Connection, entries: Acl) -> bool:
        if entries is OPEN_ACL or self.rules.skips_acl:
            return True
        return acl.allows(entries, Perms.READ, watcher.asker.ids)

    def notify(self, connection: Connection, zxid: int, event: int, path: str) -> None:
        """Let one watcher hear of an event."""
        frame = encode_notification(zxid, WatcherEvent(event, KeeperState.CONNECTED, path))
        self.stats.counts.watch_bytes += len(frame)
        connection.send(frame)
        self.to_flush[connection] = None

    def flush(self) -> None:
        """Send what was written to connections, and read again from those that had to wait."""
        waiting, self.to_flush = self.to_flush, {}
        for connection in waiting:
            connection.flush()
        if self._throttled and self.pipeline.outstanding < self.settings.outstanding_max:
            throttled, self._throttled = self._throttled, []
            for connection in throttled:
                connection.relieve()

    def throttle(self, connection: Connection) -> None:
        """Take no more from a client while too much is under way."""
        connection.throttle()
        self._throttled.append(connection)
