"""Requests whose bodies make no sense: told apart by their headers, without harm to others."""

from __future__ import annotations

import pytest

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.connection import ServerConnection
from odradek.zookeeper.wire.messages.requests import GetACLRequest
from odradek.zookeeper.wire.messages.session import ConnectRequest
from odradek.zookeeper.wire.requests import Request, Unreadable, encode_request
from tests.zookeeper.wire.golden import framed


def connected() -> ServerConnection:
    server = ServerConnection()
    server.feed(framed(ConnectRequest(0, 0, 4000, 0, bytes(16), False).encode()))
    return server


def test_a_body_cut_short_is_told_by_its_header() -> None:
    cut_short = framed(encode_request(5, Op.GET_ACL, GetACLRequest("/a"))[4:-1])
    (unreadable,) = connected().feed(cut_short)
    assert isinstance(unreadable, Unreadable)
    assert (unreadable.xid, unreadable.type) == (5, Op.GET_ACL)


def test_those_before_and_after_it_are_read() -> None:
    good = encode_request(1, Op.GET_ACL, GetACLRequest("/a"))
    bad = framed(bytes.fromhex("0000000200000006"))
    kinds = [type(each) for each in connected().feed(good + bad + good)]
    assert kinds == [Request, Unreadable, Request]


def test_without_a_whole_header_there_is_nothing_to_tell() -> None:
    with pytest.raises(ProtocolError, match="4 bytes"):
        connected().feed(framed(bytes(4)))
