"""Plays steps to a server, one at a time, and writes down all that the server says.

A step is over when its last request is answered or its connection is at an end, and every open
connection has answered a ping: by then all events that the step caused have come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.zookeeper.state.sessions import password_of
from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.messages.session import ConnectRequest, ReplyHeader
from odradek.zookeeper.wire.requests import encode_request
from tests.zookeeper.server.normal import Normal
from tests.zookeeper.server.raw_client import RawClient
from tests.zookeeper.server.steps import NO_PASSWORD, Deed, Step

PING = encode_request(Xid.PING, Op.PING)
CLOSED = "closed"
LAST_WORDS = ("-1 UNIMPLEMENTED", "AUTH_FAILED", CLOSED)


class Player:
    """The clients of one stream."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._normal = Normal()
        self._clients: dict[str, RawClient] = {}
        self._types: dict[str, dict[int, int]] = {}

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def move(self, port: int) -> None:
        """Go on with another server; the clients are cut off and must come back."""
        self.close()
        self._clients.clear()
        self._port = port

    def play(self, step: Step) -> list[str]:
        """Take one step; return what each client hears, who acted first."""
        deeds = {Deed.OPEN: self._open, Deed.SAY: self._say, Deed.CUT: self._cut}
        heard = deeds[step.deed](step)
        lines = [f"{step.client} {text}" for text in heard] + list(self._settle())
        return events_sorted(lines) if self._ends_session(step) else lines

    def _open(self, step: Step) -> list[str]:
        before = self._clients.pop(step.client, None)
        client = self._clients[step.client] = RawClient(self._port)
        self._types[step.client] = {}
        client.send_frame(self._with_real_session(ConnectRequest.decode(step.payload)).encode())
        answer = client.receive()
        if before is not None:
            before.close()
        if answer is None:
            self._clients.pop(step.client).close()
            return [CLOSED]
        return [self._normal.welcome(answer)]

    def _with_real_session(self, request: ConnectRequest) -> ConnectRequest:
        ids, number = self._normal.session_ids, request.session_id
        if not 0 < number <= len(ids):
            return request
        password = request.passwd
        if password == NO_PASSWORD:
            password = password_of(ids[number - 1])
        return ConnectRequest(
            request.protocol_version,
            request.last_zxid_seen,
            request.time_out,
            ids[number - 1],
            password,
            request.read_only,
        )

    def _say(self, step: Step) -> list[str]:
        client = self._clients.get(step.client)
        if client is None:
            return [CLOSED]
        requests = step.requests()
        self._types[step.client].update(requests)
        client.send(step.payload)
        if not requests:
            return self._hear(step.client, until_xid=None)
        heard = self._hear(step.client, until_xid=xid_of_answer(*requests[-1]))
        if heard[-1].endswith(LAST_WORDS) or self._ends_session(step):
            # The original may go on for a moment after its last words.
            heard += self._hear(step.client, until_xid=None)
        return heard

    def _cut(self, step: Step) -> list[str]:
        if client := self._clients.pop(step.client, None):
            client.close()
        return []

    def _hear(self, name: str, until_xid: int | None) -> list[str]:
        """What comes up to the reply with this xid, or the end of the connection."""
        heard: list[str] = []
        if name not in self._clients:
            return heard
        while (body := self._clients[name].receive()) is not None:
            heard.append(self._normal.reply(body, self._types[name]))
            if ReplyHeader.read(body)[0].xid == until_xid:
                return heard
        self._clients.pop(name).close()
        return [*heard, CLOSED]

    def _settle(self) -> Iterator[str]:
        for client in self._clients.values():
            client.send(PING)
        for name in sorted(self._clients):
            heard = self._hear(name, until_xid=Xid.PING)
            if heard[-1] != CLOSED:
                heard.pop()
            for text in heard:
                yield f"{name} {text}"

    def _ends_session(self, step: Step) -> bool:
        return step.deed == Deed.SAY and any(op == Op.CLOSE_SESSION for _, op in step.requests())


def play(port: int, steps: Iterable[Step]) -> Iterator[tuple[Step, list[str]]]:
    """Play a whole stream; each step with what was heard."""
    player = Player(port)
    try:
        for step in steps:
            yield step, player.play(step)
    finally:
        player.close()


def events_sorted(lines: list[str]) -> list[str]:
    """The ephemerals of a session are a set: nobody says which of them goes first."""
    events = sorted(line for line in lines if " event " in line)
    return events + [line for line in lines if line not in events]


def xid_of_answer(xid: int, op: int) -> int:
    return Xid.PING if op == Op.PING else xid
