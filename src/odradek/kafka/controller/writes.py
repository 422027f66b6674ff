"""What a decision writes to ZooKeeper, and how much of it goes into one request.

Writes that belong together are a group: it happens whole or not at all. Many groups travel in one
multi behind one check of the controller's epoch; if one of them fails, all do, and each is then
tried by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

GROUPS_MAX = 256
PACK_BYTES = 256 * 1024  # A quarter of what ZooKeeper takes at once.


class Create(NamedTuple):
    """Make a znode; if one `may_exist`, that is as good."""

    path: str
    data: bytes | None = None
    may_exist: bool = False


class Set(NamedTuple):
    """Change a znode that is at this version; -1 is any."""

    path: str
    data: bytes
    version: int = -1


class Delete(NamedTuple):
    """Remove a znode; one that is gone is as good."""

    path: str
    version: int = -1


Write = Create | Set | Delete
Group = tuple[Write, ...]


def packed(groups: Iterable[Group]) -> Iterator[list[Group]]:
    """The groups in the same order, as many together as one request should carry."""
    pack: list[Group] = []
    size = 0
    for group in groups:
        bytes_of_group = sum(map(size_of, group))
        if pack and (size + bytes_of_group > PACK_BYTES or len(pack) == GROUPS_MAX):
            yield pack
            pack, size = [], 0
        pack.append(group)
        size += bytes_of_group
    if pack:
        yield pack


def size_of(write: Write) -> int:
    """About what it takes on the wire."""
    data = b"" if isinstance(write, Delete) else write.data or b""
    return 64 + len(write.path) + len(data)
