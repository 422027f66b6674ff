"""The parts of a multi, as the original understands them.

Alone, a create is what its type says. In a multi its flags have the last word: with the flag of a
container any create makes one, and without a flag for it there is no time to live. A plain create
that has such a flag, or flags without meaning, or no ACL at all, spoils the whole multi.
"""

from __future__ import annotations

from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.jute import Record
from odradek.zookeeper.wire.messages.requests import CreateRequest, CreateTTLRequest
from odradek.zookeeper.wire.multi import MultiRequest

MODES = frozenset(CreateMode)
TTL_MODES = frozenset({CreateMode.PERSISTENT_WITH_TTL, CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL})

Part = tuple[int, Record]


def parts_of(request: MultiRequest | None) -> list[Part] | None:
    """What each part asks for; None if the multi makes no sense, as one that could not be read."""
    if request is None or any(_spoils(part) for _, part in request.operations):
        return None
    return [_understood(op, part) for op, part in request.operations]


def _spoils(part: Record) -> bool:
    return isinstance(part, CreateRequest) and (
        part.flags not in MODES or part.flags in TTL_MODES or part.acl is None
    )


def _understood(op: int, part: Record) -> Part:
    if isinstance(part, CreateTTLRequest) and part.flags not in TTL_MODES:
        op, part = Op.CREATE, CreateRequest(part.path, part.data, part.acl, part.flags)
    if isinstance(part, CreateRequest) and part.flags == CreateMode.CONTAINER:
        op = Op.CREATE_CONTAINER
    return op, part
