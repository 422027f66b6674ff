"""Partitions tell whom they remember."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    TopicRequest,
)
from tests.kafka.api.administered import Administered, administered
from tests.kafka.storage.logs import NOW_MS, batch_of


async def describe(stage: Administered, topic: str, *indexes: int) -> list[PartitionResponse]:
    asked = TopicRequest(name=topic, partition_indexes=list(indexes))
    message = DescribeProducersRequest(topics=[asked])
    response = await stage.ask(message, 0, DescribeProducersResponse)
    assert [it.name for it in response.topics] == [topic]
    return response.topics[0].partitions


@administered()
async def test_producers_are_told_with_what_they_last_wrote(stage: Administered) -> None:
    await stage.create("t")
    partition = stage.broker.partitions.get("t", 0)
    assert partition is not None
    partition.append(batch_of([b"a", b"b"], producer_id=7, producer_epoch=3), NOW_MS)
    (described,) = await describe(stage, "t", 0)
    assert described.error_code == ErrorCode.NONE
    (producer,) = described.active_producers
    assert (producer.producer_id, producer.producer_epoch, producer.last_sequence) == (7, 3, 1)
    assert (producer.last_timestamp, producer.coordinator_epoch) == (NOW_MS, -1)
    assert producer.current_txn_start_offset == -1


@administered()
async def test_a_partition_that_nobody_numbered_records_for_has_none(stage: Administered) -> None:
    await stage.create("t")
    (described,) = await describe(stage, "t", 0)
    assert (described.error_code, described.active_producers) == (ErrorCode.NONE, [])


@administered()
async def test_what_is_not_there_has_no_producers(stage: Administered) -> None:
    await stage.create("t")
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert [it.error_code for it in await describe(stage, "t", 5)] == [unknown]
    assert [it.error_code for it in await describe(stage, "u", 0, 1)] == [unknown, unknown]
    invalid = ErrorCode.INVALID_TOPIC_EXCEPTION
    assert [it.error_code for it in await describe(stage, "a b", 0)] == [invalid]
