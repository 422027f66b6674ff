"""What a znode carries besides its bytes: who may do what, and its history in numbers."""

from __future__ import annotations

from functools import cache
from typing import Annotated

from odradek.zookeeper.wire.jute import Int, Long, Record, String, Vector


class Id(Record):
    """A scheme and an id within it. Some clients send an empty string as null."""

    scheme: String | None
    id: String | None


class ACL(Record):
    perms: Int
    id: Id


@cache
def open_acl() -> list[ACL]:
    """Anyone may do anything: the ACL of nearly all znodes, and so one list for all of them."""
    return [ACL(31, Id("world", "anyone"))]


AclList = Annotated[Vector[ACL] | None, open_acl]


class Stat(Record):
    """A znode's numbers as clients see them."""

    czxid: Long
    mzxid: Long
    ctime: Long
    mtime: Long
    version: Int
    cversion: Int
    aversion: Int
    ephemeral_owner: Long
    data_length: Int
    num_children: Int
    pzxid: Long


class StatPersisted(Record):
    """A znode's numbers as snapshots keep them: `cversion` here counts creates only."""

    czxid: Long
    mzxid: Long
    ctime: Long
    mtime: Long
    version: Int
    cversion: Int
    aversion: Int
    ephemeral_owner: Long
    pzxid: Long


class ClientInfo(Record):
    auth_scheme: String
    user: String
