"""Which request creates which kind of znode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from odradek.zookeeper.client.errors import BadArguments
from odradek.zookeeper.wire.codes import CreateMode, Op, Perms
from odradek.zookeeper.wire.messages.data import ACL, Id, Stat
from odradek.zookeeper.wire.messages.requests import CreateRequest, CreateTTLRequest

OPEN_TO_ALL = (ACL(Perms.ALL, Id("world", "anyone")),)
READ_BY_ALL = (ACL(Perms.READ, Id("world", "anyone")),)
OWN = (ACL(Perms.ALL, Id("auth", "")),)  # Whoever we have authenticated as.
WITH_TTL = (CreateMode.PERSISTENT_WITH_TTL, CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL)


class Created(NamedTuple):
    """A new znode: its path, which only the server knows if it is sequential."""

    path: str
    stat: Stat


class Creation(NamedTuple):
    """A znode to be made, as the caller wants it."""

    path: str
    data: bytes | None = b""
    mode: CreateMode = CreateMode.PERSISTENT
    acl: Sequence[ACL] = OPEN_TO_ALL
    ttl_ms: int | None = None

    def request(self, path: str, plain: Op) -> tuple[Op, CreateRequest | CreateTTLRequest]:
        """The request for it under its full path; `plain` is the operation if no other must be."""
        if (self.mode in WITH_TTL) != (self.ttl_ms is not None):
            raise BadArguments(f"{self.path}: a time-to-live needs a mode with TTL, and vice versa")
        acl = list(self.acl)
        if self.ttl_ms is not None:
            return Op.CREATE_TTL, CreateTTLRequest(path, self.data, acl, self.mode, self.ttl_ms)
        op = Op.CREATE_CONTAINER if self.mode is CreateMode.CONTAINER else plain
        return op, CreateRequest(path, self.data, acl, self.mode)
