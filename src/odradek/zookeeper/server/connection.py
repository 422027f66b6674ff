"""A client's socket: its bytes, its session, and the order of its answers.

Answers leave in the order of the requests. A read is answered at once, unless writes of this
client are still on their way: then it waits behind them, and sees what they did. Events of
watches are written as they happen, so they leave before any answer that shows the change.

Nobody makes us hold more than our share. While a client does not read what it is sent, or too
much is under way, it is not read from; what it had sent before waits. Events cannot wait, so one
who lets too many of them pile up is dropped.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Multiset
from collections import deque
from typing import TYPE_CHECKING, cast

from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.server.pipeline import Forwarded
from odradek.zookeeper.server.stats import Tally
from odradek.zookeeper.state.asker import Asker
from odradek.zookeeper.state.decide import DECIDERS
from odradek.zookeeper.state.processor import Proposal
from odradek.zookeeper.state.reads import READERS, Answer, Reader
from odradek.zookeeper.state.rearm import rearm
from odradek.zookeeper.state.sessions import Session, password_of
from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.connection import FromClient, ServerConnection
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.messages.data import Id
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2, SyncRequest
from odradek.zookeeper.wire.messages.responses import SyncResponse
from odradek.zookeeper.wire.messages.session import (
    AuthPacket,
    ConnectRequest,
    ConnectResponse,
    SetSASLResponse,
)
from odradek.zookeeper.wire.replies import encode_reply
from odradek.zookeeper.wire.requests import Request, Unreadable
from odradek.zookeeper.wire.words import FourLetterWord

if TYPE_CHECKING:
    from odradek.zookeeper.server.clients import Clients

WRITES = frozenset(DECIDERS) - {Op.CHECK, Op.DELETE_CONTAINER, Op.CREATE_SESSION}
UNDER_WAY = (Proposal, Forwarded)
MOVED = Error.SESSION_MOVED
# Plain numbers are compared in a third of the time that members of an enumeration take.
CLOSE_SESSION, CREATE_SESSION = int(Op.CLOSE_SESSION), int(Op.CREATE_SESSION)
AUTH, PING = int(Op.AUTH), int(Op.PING)
NO_PASSWORD = bytes(16)
REFUSED = ConnectResponse(0, 0, 0, NO_PASSWORD, False)
OUT_BYTES_MAX = 256 * 1024  # What is written is sent at the latest when it is so much.
UNSENT_BYTES_MAX = 16 * 1024 * 1024  # A single answer may be more, if nothing is before it.


class Connection(asyncio.Protocol):
    """One client. It is also what `Watches` knows as a watcher."""

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.session: Session | None = None
        self.address = ""
        self.port = 0
        self.asker = Asker(0, [])
        self.established_ms = wall_clock_ms()
        self.arrived_ms = 0  # When the last bytes came, on the loop's clock.
        self.reset_counts()
        self._ordered = clients.ordered
        self._outstanding_max = clients.settings.outstanding_max
        self._wire = ServerConnection(clients.settings.frame_bytes_max, clients.scratch)
        # What is not answered, oldest first, and when each came.
        self._line: deque[tuple[Proposal | Forwarded | Request | Unreadable, int]] = deque()
        self._out: list[bytes] = []
        self._out_bytes = 0
        self._left: list[FromClient] = []  # What has come and may not be taken yet.
        self._is_stuck = False  # The client does not read.
        self._is_throttled = False  # Too much is under way.
        self._is_held = False  # For one of these reasons, or because it is over.
        self._reader: Reader | None = None
        self._is_closing = False
        self.is_asking_to_close = False
        self.deadline: asyncio.TimerHandle  # For the first words of the client.

    # What is counted

    def reset_counts(self) -> None:
        """Count anew, as if the client had done nothing yet."""
        self.tally = Tally()
        self.last_op = 0
        self.last_xid = -1
        self.last_zxid = -1
        self.last_reply_ms = 0
        self.last_latency_ms = 0

    @property
    def waiting_count(self) -> int:
        """How many requests are not answered yet."""
        return len(self._line)

    @property
    def is_read_from(self) -> bool:
        return not self._is_closing and self._transport.is_reading()

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent.
        self.address, self.port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.asker.ids.append(Id("ip", self.address))
        if not self.clients.admit(self):
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_closing = self._is_held = True
        self.clients.forget(self)

    def data_received(self, data: bytes) -> None:
        self.tally.bytes_received += len(data)
        try:
            arrived = self._wire.feed(data)
        except ProtocolError as error:
            self.drop(str(error))
            return
        self.clients.heard(self)
        self._take_all([*self._left, *arrived] if self._left else arrived)

    def _take_all(self, arrived: list[FromClient]) -> None:
        """Take what has come, up to where there is a reason to wait."""
        self._left = []
        for index, each in enumerate(arrived):
            if self._is_held:
                self._left = arrived[index:]
                break
            if isinstance(each, Request):
                self._take(each)
            elif isinstance(each, Unreadable):
                self._take_unreadable(each)
            else:
                self._take_first(each)
        if len(self._out) > 1:
            self.clients.gathering.answered(len(self._out))
        self.flush()

    def pause_writing(self) -> None:
        self._is_stuck = self._is_held = True
        self._hold()

    def resume_writing(self) -> None:
        self._is_stuck = False
        self._go_on()

    def throttle(self) -> None:
        """Take no more until `relieve`."""
        self._is_throttled = self._is_held = True
        self._hold()

    def relieve(self) -> None:
        self._is_throttled = False
        self._go_on()

    def _hold(self) -> None:
        if not self._is_closing:
            self._transport.pause_reading()

    def _go_on(self) -> None:
        self._is_held = self._is_stuck or self._is_throttled or self._is_closing
        if not self._is_held:
            self._take_all(self._left)
        if not self._is_held:
            self._transport.resume_reading()

    def flush(self) -> None:
        """Send all that was written."""
        if not self._out or self._is_closing:
            return
        if self._is_stuck and self._transport.get_write_buffer_size() > UNSENT_BYTES_MAX:
            self.drop("it does not read what it is sent")
            return
        data, is_alone = b"".join(self._out), len(self._out) == 1
        self.tally.bytes_sent += len(data)
        self.clients.stats.responded(self._out, len(data))
        self._out.clear()
        self._out_bytes = 0
        self._transport.write(data)
        if is_alone:  # Who asks many things at once need not be waited for.
            self.clients.lingering.answered()

    def drop(self, why: str) -> None:
        """End the connection at once; the session may go on elsewhere."""
        if not self._is_closing:
            self.clients.stats.counts.connection_drop_count += 1
            self.clients.note.info("%s:%s is dropped: %s", self.address, self.port, why)
            self._is_closing = self._is_held = True
            self._transport.abort()

    def hang_up(self) -> None:
        """Send what is written, then end the connection."""
        self.flush()
        self._is_closing = self._is_held = True
        self._transport.close()

    # Requests

    def _take(self, request: Request) -> None:
        self.tally.received += 1
        op = self.last_op = request.type
        if request.xid >= 0:
            self.last_xid = request.xid
        if op in self._ordered:
            self._propose(request)
        elif op == AUTH:
            self._authenticate(request)
        elif self._line:
            self._put_in_line(request)
        else:
            self._answer(request)

    def _take_unreadable(self, request: Unreadable) -> None:
        """The original opens most bodies late, where it can still answer in order."""
        self.tally.received += 1
        if request.type in (Op.AUTH, Op.SASL):
            self.drop(request.why)
        elif request.type == Op.MULTI:
            # Of all writes that make no sense, only this one takes a zxid.
            self._propose(Request(request.xid, request.type, None, b""))
        elif self._line:
            self._put_in_line(request)
        else:
            self._reply(request.xid, Error.MARSHALLING_ERROR)

    def _propose(self, request: Request) -> None:
        session, op = self.session, request.type
        if session is None or session.is_closing:
            return  # The connection ends with the session, and that is answer enough.
        if op == CLOSE_SESSION:
            session.is_closing = self.is_asking_to_close = True
        propose = self.clients.pipeline.propose
        self._put_in_line(propose(self.asker, request.xid, op, request.record, self, request))

    def _put_in_line(self, what: Proposal | Forwarded | Request | Unreadable) -> None:
        self._line.append((what, self.arrived_ms))
        self.tally.aside += 1
        clients, most = self.clients, self._outstanding_max
        if clients.pipeline.outstanding >= most or len(self._line) >= most:
            clients.throttle(self)

    def _leave_line(self, times_ms: Multiset[int]) -> Proposal | Forwarded | Request | Unreadable:
        """Give the first in line, to be answered; count in `times_ms` how long it took."""
        first, arrived_ms = self._line.popleft()
        now_ms = self.last_reply_ms = self.clients.committing_ms
        latency_ms = self.last_latency_ms = now_ms - arrived_ms
        times_ms[latency_ms] += 1
        return first

    def committed(self, write: Proposal | Forwarded, answer: Answer | Error) -> None:
        """Our write is done: answer it, and the reads behind it."""
        if self._is_closing:
            return
        op, header = write.op, write.header
        if op == CREATE_SESSION:
            self.welcome()
            self.relieve()
            return
        if answer is MOVED:
            self.drop("its session has moved to another server")
            return
        first = self._leave_line(self.tally.write_ms)
        assert first is write
        self._reply(header.cxid, answer, header.zxid)
        if op == CLOSE_SESSION:
            self.hang_up()
            return
        if self._line and not isinstance(self._line[0][0], UNDER_WAY):
            self._answer_those_behind()
        self.clients.to_flush[self] = None

    def _answer_those_behind(self) -> None:
        """Answer the reads that waited for this write, up to the next."""
        while self._line and not isinstance(request := self._line[0][0], UNDER_WAY):
            if self._is_closing:
                return
            self._leave_line(self.tally.read_ms)
            if isinstance(request, Request):
                self._answer(request)
            else:
                self._reply(request.xid, Error.MARSHALLING_ERROR)

    def _answer(self, request: Request) -> None:
        """Answer what needs no transaction."""
        reader, op = self._reader, request.type
        if reader is None or self.session is None:
            self.drop("it asks before it has a session")
        elif op in READERS:
            self._reply(request.xid, READERS[op](reader, request.record))
        elif op == PING:
            self._reply(Xid.PING, None)
        elif isinstance(request.record, SyncRequest):
            self._reply(request.xid, SyncResponse(request.record.path))
        elif isinstance(request.record, SetWatches | SetWatches2):
            for event, path in rearm(reader, request.record):
                self.clients.notify(self, -1, event, path)
            self._reply(request.xid, None)
        elif op == Op.SASL:
            # Nobody here speaks SASL: an empty token says so, and the client goes on without.
            self._out.append(encode_reply(request.xid, 0, SetSASLResponse(None)))
        else:
            self._out.append(encode_reply(request.xid, -1, None, Error.UNIMPLEMENTED))
            self.hang_up()

    def _reply(self, xid: int, answer: Answer | Error, zxid: int | None = None) -> None:
        if zxid is None:
            zxid = self.clients.tree.last_zxid
        self.last_zxid = zxid
        if type(answer) is Error:
            self.send(encode_reply(xid, zxid, None, answer))
        else:
            self.send(encode_reply(xid, zxid, answer))

    def send(self, frame: bytes) -> None:
        """Write one frame as it is."""
        self.tally.sent += 1
        self._out.append(frame)
        self._out_bytes += len(frame)
        if self._out_bytes > OUT_BYTES_MAX:
            self.flush()

    # The session

    def _take_first(self, first: ConnectRequest | FourLetterWord) -> None:
        self.tally.received += 1
        self.tally.aside += 1
        if isinstance(first, FourLetterWord):
            self._transport.write(self.clients.hear_word(first, self))
            self.tally.sent += 1
            self.hang_up()
        elif refusal := self.clients.refuse(first):
            self.drop(refusal)
        else:
            self.clients.connect(self, first)

    def attach(self, session: Session) -> None:
        """From now on this connection speaks for a session."""
        self.session = session
        self.asker.session_id = session.session_id
        clients = self.clients
        self._reader = Reader(clients.tree, clients.watches, clients.rules, self.asker, self)

    def welcome(self) -> None:
        """Tell the client that its session is open."""
        session = self.session
        assert session is not None
        self.send(
            self._wire.answer_connect(
                ConnectResponse(
                    0,
                    session.timeout_ms,
                    session.session_id,
                    password_of(session.session_id),
                    self.clients.is_read_only,
                )
            )
        )
        self.clients.to_flush[self] = None

    def refuse(self) -> None:
        """Tell the client that its session is over."""
        self._out.append(self._wire.answer_connect(REFUSED))
        self.hang_up()

    def _authenticate(self, request: Request) -> None:
        packet = request.record
        assert isinstance(packet, AuthPacket)
        self.tally.aside += 1
        error = self.clients.authenticate(self, packet.scheme or "", packet.auth)
        self.send(encode_reply(request.xid, 0, None, error))
        if error:
            self.clients.stats.auth_failed_count += 1
            self.hang_up()
