"""OffsetForLeaderEpoch: where an epoch ended."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.kafka.broker.asking import put
from tests.kafka.broker.served import Served, with_broker

VERSION = 4


async def ended(
    served: Served, epoch: int, *, current: int = -1, version: int = VERSION, index: int = 0
) -> tuple[int, int, int]:
    wanted = OffsetForLeaderPartition(
        partition=index, current_leader_epoch=current, leader_epoch=epoch
    )
    message = OffsetForLeaderEpochRequest(
        replica_id=-1, topics=[OffsetForLeaderTopic(topic="t", partitions=[wanted])]
    )
    answer = await served.ask(message, version, OffsetForLeaderEpochResponse)
    found = answer.topics[0].partitions[0]
    return found.error_code, found.leader_epoch, found.end_offset


@with_broker()
async def test_an_epoch_ends_where_the_next_begins(served: Served) -> None:
    served.lead(epoch=2)
    await put(served, b"a", b"b")
    served.lead(epoch=5)
    await put(served, b"c")
    assert await ended(served, 2) == (0, 2, 2)
    assert await ended(served, 4) == (0, 2, 2), "the last before one that nobody had"
    assert await ended(served, 5) == (0, 5, 3)
    assert await ended(served, 6) == (0, -1, -1)
    assert await ended(served, 1) == (0, 1, 0)
    assert await ended(served, 2, version=0) == (0, -1, 2)


@with_broker()
async def test_a_leader_that_has_appended_nothing_begins_at_the_end(served: Served) -> None:
    served.lead(epoch=2)
    await put(served, b"a", b"b")
    served.lead(epoch=5)
    assert await ended(served, 5) == (0, 5, 2)
    assert await ended(served, 3) == (0, 2, 2)
    assert await ended(served, 2) == (0, 2, 2)
    assert await ended(served, 6) == (0, -1, -1)


@with_broker()
async def test_a_new_partition_knows_its_own_epoch(served: Served) -> None:
    served.lead(epoch=0)
    assert await ended(served, 0) == (0, 0, 0)
    assert await ended(served, 1) == (0, -1, -1)


@with_broker()
async def test_who_asks_must_believe_in_the_same_leader(served: Served) -> None:
    served.lead(epoch=2)
    assert (await ended(served, 2, current=2))[0] == 0
    assert (await ended(served, 2, current=1))[0] == ErrorCode.FENCED_LEADER_EPOCH
    assert (await ended(served, 2, current=3))[0] == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert (await ended(served, 2, index=9))[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
