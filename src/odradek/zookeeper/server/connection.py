"""A client's socket: its bytes, its session, and the order of its answers.

Answers leave in the order of the requests. A read is answered at once, unless writes of this
client are still on their way: then it waits behind them, and sees what they did. Events of
watches are written as they happen, so they leave before any answer that shows the change.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, cast

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.state.asker import Asker
from odradek.zookeeper.state.decide import DECIDERS
from odradek.zookeeper.state.processor import Proposal
from odradek.zookeeper.state.reads import READERS, Answer, Reader
from odradek.zookeeper.state.rearm import rearm
from odradek.zookeeper.state.sessions import Session, password_of
from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.connection import ServerConnection
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
from odradek.zookeeper.wire.requests import Request
from odradek.zookeeper.wire.words import FourLetterWord

if TYPE_CHECKING:
    from odradek.zookeeper.server.clients import Clients

WRITES = frozenset(DECIDERS) - {Op.CHECK, Op.DELETE_CONTAINER, Op.CREATE_SESSION}
NO_PASSWORD = bytes(16)
REFUSED = ConnectResponse(0, 0, 0, NO_PASSWORD, False)


class Connection(asyncio.Protocol):
    """One client. It is also what `Watches` knows as a watcher."""

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.session: Session | None = None
        self.address = ""
        self.port = 0
        self.asker = Asker(0, [])
        self.received_count = 0
        self.sent_count = 0
        self.last_op = 0
        self.last_xid = 0
        self._wire = ServerConnection(clients.settings.frame_bytes_max)
        self._line: deque[Proposal | Request] = deque()  # What is not answered, oldest first.
        self._out: list[bytes] = []
        self._reader: Reader | None = None
        self._is_closing = False
        self.is_asking_to_close = False
        self.deadline: asyncio.TimerHandle  # For the first words of the client.

    # The socket

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by descent.
        self.address, self.port = (transport.get_extra_info("peername") or ("", 0))[:2]
        self.asker.ids.append(Id("ip", self.address))
        if not self.clients.admit(self):
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_closing = True
        self.clients.forget(self)

    def data_received(self, data: bytes) -> None:
        try:
            arrived = self._wire.feed(data)
        except ProtocolError as error:
            self.drop(str(error))
            return
        self.clients.heard(self)
        for each in arrived:
            if self._is_closing:
                return
            if isinstance(each, Request):
                self._take(each)
            else:
                self._take_first(each)
        self.flush()
        self.clients.throttle(self)

    def pause_writing(self) -> None:
        """The client does not read: then neither do we."""
        self.pause_reading()

    def resume_writing(self) -> None:
        self.resume_reading()

    def pause_reading(self) -> None:
        if not self._is_closing:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        if not self._is_closing:
            self._transport.resume_reading()

    def flush(self) -> None:
        """Send all that was written."""
        if self._out and not self._is_closing:
            self._transport.write(b"".join(self._out))
            self._out.clear()

    def drop(self, why: str) -> None:
        """End the connection at once; the session may go on elsewhere."""
        if not self._is_closing:
            self.clients.note.info("%s:%s is dropped: %s", self.address, self.port, why)
            self._is_closing = True
            self._transport.abort()

    def hang_up(self) -> None:
        """Send what is written, then end the connection."""
        self.flush()
        self._is_closing = True
        self._transport.close()

    # Requests

    def _take(self, request: Request) -> None:
        self.received_count += 1
        self.last_op, self.last_xid = request.type, request.xid
        if request.type in WRITES:
            self._propose(request)
        elif request.type == Op.AUTH:
            self._authenticate(request)
        elif self._line:
            self._line.append(request)
        else:
            self._answer(request)

    def _propose(self, request: Request) -> None:
        if self.session is None or self.session.is_closing:
            self._reply(request.xid, Error.SESSION_EXPIRED)
            return
        if request.type == Op.CLOSE_SESSION:
            self.session.is_closing = self.is_asking_to_close = True
        pipeline = self.clients.pipeline
        self._line.append(
            pipeline.propose(self.asker, request.xid, request.type, request.record, self)
        )

    def committed(self, proposal: Proposal, answer: Answer | Error) -> None:
        """Our write is done: answer it, and the reads behind it."""
        if proposal.op == Op.CREATE_SESSION:
            self.welcome()
            return
        assert self._line[0] is proposal
        self._line.popleft()
        self._reply(proposal.header.cxid, answer, proposal.header.zxid)
        while self._line and isinstance(request := self._line[0], Request):
            self._line.popleft()
            self._answer(request)
        if proposal.op == Op.CLOSE_SESSION:
            self.hang_up()
        else:
            self.clients.to_flush[self] = None

    def _answer(self, request: Request) -> None:
        """Answer what needs no transaction."""
        reader = self._reader
        if reader is None or self.session is None:
            self.drop("it asks before it has a session")
        elif request.type in READERS:
            self._reply(request.xid, READERS[request.type](reader, request.record))
        elif request.type == Op.PING:
            self._reply(Xid.PING, None)
        elif isinstance(request.record, SyncRequest):
            self._reply(request.xid, SyncResponse(request.record.path))
        elif isinstance(request.record, SetWatches | SetWatches2):
            for event, path in rearm(reader, request.record):
                self.clients.notify(self, -1, event, path)
            self._reply(request.xid, None)
        elif request.type == Op.SASL:
            # Nobody here speaks SASL: an empty token says so, and the client goes on without.
            self._out.append(encode_reply(request.xid, 0, SetSASLResponse(None)))
        else:
            self._out.append(encode_reply(request.xid, -1, None, Error.UNIMPLEMENTED))
            self.hang_up()

    def _reply(self, xid: int, answer: Answer | Error, zxid: int | None = None) -> None:
        if zxid is None:
            zxid = self.clients.tree.last_zxid
        self.sent_count += 1
        if isinstance(answer, Error):
            self._out.append(encode_reply(xid, zxid, None, answer))
        else:
            self._out.append(encode_reply(xid, zxid, answer))

    def send(self, frame: bytes) -> None:
        """Write one frame that nobody asked for."""
        self.sent_count += 1
        self._out.append(frame)

    # The session

    def _take_first(self, first: ConnectRequest | FourLetterWord) -> None:
        if isinstance(first, FourLetterWord):
            self._out.append(self.clients.hear_word(first, self))
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
        self._out.append(
            self._wire.answer_connect(
                ConnectResponse(
                    0,
                    session.timeout_ms,
                    session.session_id,
                    password_of(session.session_id),
                    False,
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
        error = self.clients.authenticate(self, packet.scheme or "", packet.auth or b"")
        self._out.append(encode_reply(Xid.AUTH, 0, None, error))
        if error:
            self.hang_up()
