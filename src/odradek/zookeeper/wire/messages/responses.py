"""What servers answer, and what they tell unasked."""

from __future__ import annotations

from odradek.zookeeper.wire.jute import Buffer, Int, Record, String, Vector
from odradek.zookeeper.wire.messages.data import ACL, ClientInfo, Stat


class CreateResponse(Record):
    path: String


class Create2Response(Record):
    path: String
    stat: Stat


class ExistsResponse(Record):
    stat: Stat


class GetDataResponse(Record):
    data: Buffer | None
    stat: Stat


class SetDataResponse(Record):
    stat: Stat


class GetACLResponse(Record):
    acl: Vector[ACL]
    stat: Stat


class SetACLResponse(Record):
    stat: Stat


class GetChildrenResponse(Record):
    children: Vector[String]


class GetChildren2Response(Record):
    children: Vector[String]
    stat: Stat


class GetAllChildrenNumberResponse(Record):
    total_number: Int


class GetEphemeralsResponse(Record):
    ephemerals: Vector[String]


class GetMaxChildrenResponse(Record):
    max: Int


class SyncResponse(Record):
    path: String


class WhoAmIResponse(Record):
    client_info: Vector[ClientInfo]


class ErrorResponse(Record):
    err: Int


class WatcherEvent(Record):
    """A watch has fired: what happened (`type`) to `path`; `state` is always 3, connected."""

    type: Int
    state: Int
    path: String
