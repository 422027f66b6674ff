"""Answers as text, without what differs from run to run.

Session ids become numbers in the order of their appearance, passwords are `right` or not, times
are `@` where they are the time of the zxid that they belong to, and what a server keeps as a set
is sorted. All else stays, zxids before all. A body is opened only if our own writer would give the
same bytes back; otherwise its bytes are shown, so that nothing is lost by reading it.
"""

from __future__ import annotations

from typing import Any

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.state.sessions import password_of
from odradek.zookeeper.wire.codes import EventType, Op, Xid
from odradek.zookeeper.wire.errors import Error
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.data import Stat
from odradek.zookeeper.wire.messages.responses import WatcherEvent
from odradek.zookeeper.wire.messages.session import ConnectResponse, ReplyHeader
from odradek.zookeeper.wire.multi import MultiResponse
from odradek.zookeeper.wire.operations import BY_CLIENTS, Body

HEADER_BYTES = 16
UNORDERED = {"acl", "children", "ephemerals", "client_info"}
NO_PASSWORD = bytes(16)


class Normal:
    """What one run has shown so far: its sessions, and when its zxids were."""

    def __init__(self) -> None:
        self.session_ids: list[int] = []
        self._times: dict[int, int] = {0: 0}

    def welcome(self, body: bytes) -> str:
        """The answer to a ConnectRequest."""
        answer = ConnectResponse.decode(body)
        if answer.session_id and answer.session_id not in self.session_ids:
            self.session_ids.append(answer.session_id)
        session = self._session(answer.session_id)
        password = "right" if answer.passwd == password_of(answer.session_id) else "wrong"
        if answer.passwd == NO_PASSWORD:
            password = "none"
        size = len(body)
        return f"session {session} timeout {answer.time_out} password {password} bytes {size}"

    def reply(self, body: bytes, types: dict[int, int]) -> str:
        """Any later frame; `types` says what each xid had asked for."""
        header, _ = ReplyHeader.read(body)
        rest = body[HEADER_BYTES:]
        if header.xid == Xid.NOTIFICATION:
            event, _ = WatcherEvent.read(rest)
            name = EventType(event.type).name.lower()
            return f"event {header.zxid} {name} {event.state} {event.path}"
        error = Error(header.err).name if header.err else "OK"
        text = self._body(types.get(header.xid, Op.PING), rest)
        return f"{header.xid} {header.zxid} {error} {text}".rstrip()

    def _body(self, op: int, rest: bytes) -> str:
        if not rest:
            return ""
        kind = BY_CLIENTS[op].response if op in BY_CLIENTS else None
        try:
            record: Body | None = kind.read(rest)[0] if kind else None
        except ProtocolError:
            record = None
        if record is None or record.encode() != rest:
            return f"bytes {rest.hex()}"
        return self._text(record)

    def _text(self, value: Any, field: str = "") -> str:
        match value:
            case MultiResponse(results):
                parts = (f"{Op(op).name.lower()} {self._text(each)}" for op, each in results)
                return "; ".join(part.rstrip() for part in parts)
            case Stat():
                return self._stat(value)
            case Record():
                fields = (self._text(getattr(value, name), name) for name in value.__match_args__)
                return " ".join(fields)
            case list():
                texts = [self._text(each) for each in value]
                return f"[{', '.join(sorted(texts) if field in UNORDERED else texts)}]"
            case bytes():
                return repr(value)[1:]
            case None:
                return "null" if field else ""
            case _:
                return str(value)

    def _stat(self, stat: Stat) -> str:
        created, modified = self._time(stat.czxid, stat.ctime), self._time(stat.mzxid, stat.mtime)
        owner = self._session(stat.ephemeral_owner)
        versions = f"{stat.version}.{stat.cversion}.{stat.aversion}"
        zxids = f"{stat.czxid}{created}/{stat.mzxid}{modified}/{stat.pzxid}"
        return f"<{zxids} v{versions} owner {owner} {stat.data_length} {stat.num_children}>"

    def _time(self, zxid: int, time_ms: int) -> str:
        """All that one zxid has changed has one time."""
        return "@" if self._times.setdefault(zxid, time_ms) == time_ms else f"@{time_ms}"

    def _session(self, session_id: int) -> str:
        if session_id in self.session_ids:
            return f"#{self.session_ids.index(session_id) + 1}"
        return str(session_id)
