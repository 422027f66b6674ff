"""Each mode of a znode has its request."""

from __future__ import annotations

import pytest

from odradek.zookeeper.client.creation import Creation
from odradek.zookeeper.client.errors import BadArguments
from odradek.zookeeper.wire.codes import CreateMode, Op
from odradek.zookeeper.wire.messages.requests import CreateTTLRequest

MODES = [
    (CreateMode.PERSISTENT, None, Op.CREATE),
    (CreateMode.EPHEMERAL, None, Op.CREATE),
    (CreateMode.PERSISTENT_SEQUENTIAL, None, Op.CREATE),
    (CreateMode.EPHEMERAL_SEQUENTIAL, None, Op.CREATE),
    (CreateMode.CONTAINER, None, Op.CREATE_CONTAINER),
    (CreateMode.PERSISTENT_WITH_TTL, 5, Op.CREATE_TTL),
    (CreateMode.PERSISTENT_SEQUENTIAL_WITH_TTL, 5, Op.CREATE_TTL),
]


@pytest.mark.parametrize(("mode", "ttl_ms", "expected"), MODES)
def test_a_mode_picks_the_operation(mode: CreateMode, ttl_ms: int | None, expected: Op) -> None:
    op, record = Creation("/a", b"data", mode, ttl_ms=ttl_ms).request("/chroot/a", Op.CREATE)
    assert op == expected
    assert (record.path, record.data, record.flags) == ("/chroot/a", b"data", mode)
    assert (record.ttl if isinstance(record, CreateTTLRequest) else None) == ttl_ms


@pytest.mark.parametrize(
    ("mode", "ttl_ms"), [(CreateMode.PERSISTENT, 5), (CreateMode.PERSISTENT_WITH_TTL, None)]
)
def test_a_time_to_live_and_its_mode_come_together(mode: CreateMode, ttl_ms: int | None) -> None:
    with pytest.raises(BadArguments):
        Creation("/a", b"", mode, ttl_ms=ttl_ms).request("/a", Op.CREATE)
