"""What clients ask for.

A path is never null: no client sends that, and it would mean nothing. Data may be null, no prefix
means all, and a missing ACL is an error with a code of its own, so it must be readable.
"""

from __future__ import annotations

from odradek.zookeeper.wire.jute import Bool, Buffer, Int, Long, Record, String, Vector
from odradek.zookeeper.wire.messages.data import AclList


class CreateRequest(Record):
    path: String
    data: Buffer | None
    acl: AclList
    flags: Int


class CreateTTLRequest(Record):
    path: String
    data: Buffer | None
    acl: AclList
    flags: Int
    ttl: Long


class DeleteRequest(Record):
    path: String
    version: Int


class ExistsRequest(Record):
    path: String
    watch: Bool


class GetDataRequest(Record):
    path: String
    watch: Bool


class SetDataRequest(Record):
    path: String
    data: Buffer | None
    version: Int


class GetACLRequest(Record):
    path: String


class SetACLRequest(Record):
    path: String
    acl: AclList
    version: Int


class GetChildrenRequest(Record):
    path: String
    watch: Bool


class GetChildren2Request(Record):
    path: String
    watch: Bool


class GetAllChildrenNumberRequest(Record):
    path: String


class GetEphemeralsRequest(Record):
    prefix_path: String | None


class GetMaxChildrenRequest(Record):
    path: String


class SetMaxChildrenRequest(Record):
    path: String
    max: Int


class CheckVersionRequest(Record):
    path: String
    version: Int


class SyncRequest(Record):
    path: String


class ReconfigRequest(Record):
    """Either members join and leave, or `new_members` replaces all; the others are null."""

    joining_servers: String | None
    leaving_servers: String | None
    new_members: String | None
    cur_config_id: Long


class AddWatchRequest(Record):
    path: String
    mode: Int


class CheckWatchesRequest(Record):
    path: String
    type: Int


class RemoveWatchesRequest(Record):
    path: String
    type: Int


class SetWatches(Record):
    """The watches of a client that comes back; `relative_zxid` is the last that it saw."""

    relative_zxid: Long
    data_watches: Vector[String]
    exist_watches: Vector[String]
    child_watches: Vector[String]


class SetWatches2(Record):
    relative_zxid: Long
    data_watches: Vector[String]
    exist_watches: Vector[String]
    child_watches: Vector[String]
    persistent_watches: Vector[String]
    persistent_recursive_watches: Vector[String]
