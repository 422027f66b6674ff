"""How a connection begins, proves who it is, and heads what it sends."""

from __future__ import annotations

from odradek.zookeeper.wire.jute import Bool, Buffer, Int, Long, Record, String


class ConnectRequest(Record):
    """The first frame of a client, without a header. Before 3.4 it had no `read_only`."""

    protocol_version: Int
    last_zxid_seen: Long
    time_out: Int
    session_id: Long
    passwd: Buffer | None
    read_only: Bool | None


class ConnectResponse(Record):
    """The first frame of a server. It has `read_only` only if the request had it."""

    protocol_version: Int
    time_out: Int
    session_id: Long
    passwd: Buffer
    read_only: Bool | None


class RequestHeader(Record):
    xid: Int
    type: Int


class ReplyHeader(Record):
    xid: Int
    zxid: Long
    err: Int


class MultiHeader(Record):
    type: Int
    done: Bool
    err: Int


class AuthPacket(Record):
    type: Int
    scheme: String | None
    auth: Buffer | None


class GetSASLRequest(Record):
    token: Buffer


class SetSASLRequest(Record):
    token: Buffer | None


class SetSASLResponse(Record):
    token: Buffer | None
