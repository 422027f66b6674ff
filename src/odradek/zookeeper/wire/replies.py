"""Replies and notifications on the wire: length, ReplyHeader, body.

An error has no body, except that a multi has one whenever the server got as far as its parts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import Struct

from odradek.zookeeper.wire.codes import Xid
from odradek.zookeeper.wire.jute import Record, compile_writer
from odradek.zookeeper.wire.messages.responses import WatcherEvent
from odradek.zookeeper.wire.messages.session import ReplyHeader
from odradek.zookeeper.wire.multi import MultiResponse
from odradek.zookeeper.wire.operations import OPERATIONS, Body

HEADER_BYTES = 16
FRAMED_HEADER = Struct(">iiqi")


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request; `err` is 0 or one of `Error`."""

    xid: int
    zxid: int
    err: int
    record: Body | None


@dataclass(frozen=True, slots=True)
class Notification:
    """A watch has fired; `zxid` is the change's, or -1 if it was missed and made up for."""

    zxid: int
    event: WatcherEvent


def encode_reply(xid: int, zxid: int, record: Body | None, err: int = 0) -> bytes:
    """One frame, with its length."""
    if record is None:
        return FRAMED_HEADER.pack(HEADER_BYTES, xid, zxid, err)
    try:
        write = _writers[type(record)]
    except KeyError:
        write = _writers[type(record)] = _make_writer(type(record))
    return write(record, xid, zxid, err)


def encode_notification(zxid: int, event: WatcherEvent) -> bytes:
    """One frame, with its length; the same for every connection that watches."""
    return encode_reply(Xid.NOTIFICATION, zxid, event)


def decode_reply(op: int, header: ReplyHeader, frame: bytes) -> Reply:
    """Read the reply to a request of this type, whose header was read already."""
    kind = OPERATIONS[op].response
    has_body = len(frame) > HEADER_BYTES if kind is MultiResponse else header.err == 0
    record = kind.read(frame, HEADER_BYTES)[0] if kind and has_body else None
    return Reply(header.xid, header.zxid, header.err, record)


_writers: dict[type, Callable[..., bytes]] = {}


def _make_writer(kind: type) -> Callable[..., bytes]:
    return compile_writer(kind, ReplyHeader) if issubclass(kind, Record) else _write_multi


def _write_multi(record: MultiResponse, xid: int, zxid: int, err: int) -> bytes:
    body = record.encode()
    return FRAMED_HEADER.pack(HEADER_BYTES + len(body), xid, zxid, err) + body
