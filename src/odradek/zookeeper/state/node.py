"""Znodes.

There are hundreds of thousands of them, so a node is a few slots and shares what it can: one ACL
for all that have the same, no table of children until there is a child.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from odradek.zookeeper.state.sheets import Sheet
from odradek.zookeeper.wire.messages.data import ACL, Stat

# Owners that are no sessions: what makes a znode a container, or gives it a time to live.
CONTAINER_OWNER = -(2**63)
TTL_MARK = 0xFF << 56
TTL_RESERVED_BITS = 0xFFFF << 40
TTL_MS_MAX = (1 << 40) - 1

NOT_COVERED = -1  # The seed of a node that the tree's digest leaves out.

_NUMBERS = Struct(">qqqqqiiiq").pack
_STAT = Struct(">qqqqiiiqiiq").pack


def ttl_owner(ttl_ms: int) -> int:
    """The owner that stands for a time to live, as a signed number."""
    return (TTL_MARK | ttl_ms) - (1 << 64)


def ttl_of(owner: int) -> int | None:
    """The time to live that an owner stands for."""
    unsigned = owner & 0xFFFFFFFFFFFFFFFF
    if unsigned >> 56 != 0xFF or unsigned & TTL_RESERVED_BITS & ~TTL_MARK:
        return None
    return unsigned & TTL_MS_MAX


def is_session(owner: int) -> bool:
    """Whether a znode with this owner goes when a session does."""
    return owner != 0 and owner != CONTAINER_OWNER and ttl_of(owner) is None


class Node:
    """One znode. `cversion` counts the children ever made, as it is stored; clients see more."""

    __slots__ = (
        "acl",
        "aversion",
        "child_count",
        "children",
        "ctime",
        "cversion",
        "czxid",
        "data",
        "digest",
        "mtime",
        "mzxid",
        "owner",
        "pzxid",
        "seed",
        "sheet",
        "version",
    )

    def __init__(
        self, data: bytes | None, acl: tuple[ACL, ...], owner: int, zxid: int, time_ms: int
    ) -> None:
        self.data = data
        self.acl = acl
        self.owner = owner
        self.czxid = self.mzxid = self.pzxid = zxid
        self.ctime = self.mtime = time_ms
        self.version = self.cversion = self.aversion = 0
        self.children: dict[str, None] | None = None  # In the order of their creation.
        self.child_count = 0
        self.digest = 0
        # Where the digest begins: with the path and the data. Kept for nodes that change, as the
        # parent of many does with every child; None until then, and when the data is new.
        self.seed: int | None = None
        self.sheet: Sheet  # Given by the tree, as the children are.

    def copy(self) -> Node:
        """The same numbers; the children are not copied, only counted; the tree gives the sheet."""
        twin = object.__new__(Node)
        twin.data = self.data
        twin.acl = self.acl
        twin.owner = self.owner
        twin.czxid = self.czxid
        twin.mzxid = self.mzxid
        twin.pzxid = self.pzxid
        twin.ctime = self.ctime
        twin.mtime = self.mtime
        twin.version = self.version
        twin.cversion = self.cversion
        twin.aversion = self.aversion
        twin.children = None
        twin.child_count = self.child_count
        twin.digest = self.digest
        twin.seed = self.seed
        return twin

    def stat(self) -> Stat:
        """The numbers as clients see them."""
        return Stat.decode(self.packed_stat())

    def packed_stat(self) -> bytes:
        """The same as they are sent: most answers need no more of it."""
        owner, child_count = self.owner, self.child_count
        return _STAT(
            self.czxid,
            self.mzxid,
            self.ctime,
            self.mtime,
            self.version,
            2 * self.cversion - child_count,
            self.aversion,
            owner if owner and is_session(owner) else 0,
            len(self.data) if self.data else 0,
            child_count,
            self.pzxid,
        )

    def compute_digest(self, path: str, seed: int | None = None) -> int:
        """A number that changes with the node; 0 for what is not covered by the tree's digest."""
        if seed is None:
            seed = seed_of(path, self.data)
        if seed == NOT_COVERED:
            return 0
        return crc32(
            _NUMBERS(
                self.czxid,
                self.mzxid,
                self.pzxid,
                self.ctime,
                self.mtime,
                self.version,
                self.cversion,
                self.aversion,
                self.owner,
            ),
            seed,
        )

    def renew_digest(self, path: str) -> int:
        """The same for a node that has changed and may change again: where it begins is kept."""
        seed = self.seed
        if seed is None:
            seed = self.seed = seed_of(path, self.data)
        self.digest = digest = self.compute_digest(path, seed)
        return digest


def seed_of(path: str, data: bytes | None) -> int:
    if path.startswith("/zookeeper/"):
        return NOT_COVERED
    seed = crc32(path.encode()) if path != "/" else 0
    return crc32(data, seed) if data else seed
