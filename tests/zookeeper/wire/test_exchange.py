"""A recorded exchange, played again by both of our ends."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.codes import Op, Xid
from odradek.zookeeper.wire.connection import (
    ClientConnection,
    FromClient,
    FromServer,
    ServerConnection,
)
from odradek.zookeeper.wire.messages.requests import SetWatches, SetWatches2
from odradek.zookeeper.wire.messages.session import AuthPacket, ConnectRequest, ConnectResponse
from odradek.zookeeper.wire.replies import Notification, encode_notification, encode_reply
from odradek.zookeeper.wire.requests import Request
from tests.zookeeper.wire.golden import Line, exchange, framed


def sent_by(client: ClientConnection, asked: FromClient) -> bytes:
    """What our client sends to ask the same."""
    if isinstance(asked, ConnectRequest):
        return client.connect(asked)
    assert isinstance(asked, Request)
    match asked.record:
        case AuthPacket() as packet:
            return client.authenticate(packet)
        case SetWatches() | SetWatches2() as watches:
            return client.set_watches(watches)
    if asked.xid == Xid.PING:
        return client.ping()
    client.next_xid = asked.xid
    xid, frame = client.request(Op(asked.type), asked.record)
    assert xid == asked.xid
    return frame


def sent_from(server: ServerConnection, answered: FromServer) -> bytes:
    """What our server sends to say the same."""
    match answered:
        case ConnectResponse():
            return server.answer_connect(answered)
        case Notification(zxid, event):
            return encode_notification(zxid, event)
        case reply:
            return encode_reply(reply.xid, reply.zxid, reply.record, reply.err)


@pytest.mark.parametrize("name", ["A", "B"])
def test_both_ends_say_what_was_recorded(name: str) -> None:
    client, server = ClientConnection(), ServerConnection()
    for line in exchange():
        if line.connection == name:
            play(line, client, server)


def play(line: Line, client: ClientConnection, server: ServerConnection) -> None:
    if line.request is not None:
        (asked,) = server.feed(framed(line.request))
        assert sent_by(client, asked) == framed(line.request), line.what
    (answered,) = client.feed(framed(line.answer))
    assert sent_from(server, answered) == framed(line.answer), line.what


def test_the_exchange_has_more_than_forty_lines() -> None:
    assert len(list(exchange())) > 40
