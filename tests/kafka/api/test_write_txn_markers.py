"""WriteTxnMarkers: what other coordinators ask this broker to end."""

from __future__ import annotations

import asyncio

from odradek.kafka.admin.names import CONSUMER_OFFSETS
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from tests.kafka.broker.asking import put_batch
from tests.kafka.broker.coordinated import OFFSETS_ID, coordinate_groups, know
from tests.kafka.broker.served import PATIENCE_S, TOPIC, Served, state_of, with_broker
from tests.kafka.storage.logs import batch_of

UNVERIFIED = {"transaction_partition_verification_enable": False}


def marker(
    producer_id: int = 7,
    epoch: int = 0,
    coordinator_epoch: int = 0,
    *,
    is_commit: bool = True,
    topic: str = TOPIC,
    partitions: tuple[int, ...] = (0, 1),
) -> WritableTxnMarker:
    return WritableTxnMarker(
        producer_id=producer_id,
        producer_epoch=epoch,
        transaction_result=is_commit,
        topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=list(partitions))],
        coordinator_epoch=coordinator_epoch,
    )


async def write(served: Served, *markers: WritableTxnMarker) -> dict[tuple[int, int], int]:
    """The code for each producer and partition."""
    message = WriteTxnMarkersRequest(markers=list(markers))
    response = await served.ask(message, 1, WriteTxnMarkersResponse)
    return {
        (result.producer_id, each.partition_index): each.error_code
        for result in response.markers
        for topic in result.topics
        for each in topic.partitions
    }


@with_broker(**UNVERIFIED)
async def test_each_partition_answers_for_itself(served: Served) -> None:
    served.lead(index=0)
    know(served, TOPIC, 2)
    assert await write(served, marker(7), marker(8)) == {
        (producer_id, index): ErrorCode.NOT_LEADER_OR_FOLLOWER if index else 0
        for producer_id in (7, 8)
        for index in (0, 1)
    }


@with_broker(**UNVERIFIED)
async def test_a_marker_lets_the_last_stable_offset_go_on(served: Served) -> None:
    partition = served.lead(index=0)
    served.lead(index=1)
    data = batch_of([b"x"], producer_id=7, producer_epoch=0, is_transactional=True)
    partition.append(data, 1)
    assert partition.log.last_stable_offset == 0
    assert await write(served, marker()) == {(7, 0): 0, (7, 1): 0}
    assert partition.log.last_stable_offset == 2


@with_broker(**UNVERIFIED)
async def test_a_coordinator_of_the_past_is_fenced(served: Served) -> None:
    served.lead(index=0)
    served.lead(index=1)
    assert await write(served, marker(epoch=3, coordinator_epoch=5)) == {(7, 0): 0, (7, 1): 0}
    fenced, stale = ErrorCode.TRANSACTION_COORDINATOR_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH
    older = await write(served, marker(epoch=3, coordinator_epoch=4))
    assert older == {(7, 0): fenced, (7, 1): fenced}
    assert await write(served, marker(epoch=2)) == {(7, 0): stale, (7, 1): stale}


@with_broker(log_flush_interval_messages=1)
async def test_offsets_that_move_away_while_their_marker_is_flushed_refuse_it(
    served: Served,
) -> None:
    """Else its coordinator would wait for ever, and everybody for the transaction."""
    shard = await coordinate_groups(served, replicas=(1, 2))
    wanted = marker(topic=CONSUMER_OFFSETS, partitions=(0,))
    writing = asyncio.ensure_future(write(served, wanted))
    await asyncio.sleep(0)
    assert shard.partition.log.end_offset == 1
    assert not writing.done()
    state = state_of(0, 2, 1, (1, 2))
    served.broker.partitions.follow(state, CONSUMER_OFFSETS, OFFSETS_ID)
    async with asyncio.timeout(PATIENCE_S):
        assert await writing == {(7, 0): ErrorCode.NOT_LEADER_OR_FOLLOWER}


@with_broker(**UNVERIFIED)
async def test_nothing_asked_is_nothing_answered(served: Served) -> None:
    assert await write(served) == {}
    served.lead()
    assert (await put_batch(served, batch_of([b"x"]))).error_code == 0
