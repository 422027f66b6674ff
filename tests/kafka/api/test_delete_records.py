"""DeleteRecords: the log begins later."""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.metadata import KnownBroker
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from tests.kafka.broker.asking import fetch_of, get, put, values_of
from tests.kafka.broker.served import BROKER_ID, Served, with_broker
from tests.kafka.storage.logs import batch_of


async def delete(
    served: Served, offset: int, *, topic: str = "t", version: int = 2, timeout_ms: int = 5000
) -> tuple[int, int]:
    wanted = DeleteRecordsPartition(partition_index=0, offset=offset)
    message = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[wanted])], timeout_ms=timeout_ms
    )
    answer = await served.ask(message, version, DeleteRecordsResponse)
    found = answer.topics[0].partitions[0]
    return found.error_code, found.low_watermark


@with_broker()
async def test_what_is_before_an_offset_is_gone(served: Served) -> None:
    served.lead()
    for value in (b"a", b"b", b"c"):
        await put(served, value)
    for version in (0, 1, 2):
        assert await delete(served, 1, version=version) == (0, 1)
    assert await delete(served, 0) == (0, 1), "it does not come back"
    (data,) = await get(served, fetch_of(0))
    assert data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    (data,) = await get(served, fetch_of(1))
    assert (values_of(data), data.log_start_offset) == ([b"b", b"c"], 1)


@with_broker()
async def test_minus_one_is_the_high_watermark(served: Served) -> None:
    served.lead()
    await put(served, b"a", b"b")
    assert await delete(served, -1) == (0, 2)


@with_broker()
async def test_what_cannot_be_deleted_is_refused(served: Served) -> None:
    served.lead()
    served.lead("__consumer_offsets")
    served.lead("compacted", overrides={"cleanup.policy": "compact"})
    await put(served, b"a")
    assert await delete(served, 2) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert await delete(served, -5) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)
    assert await delete(served, 0, topic="compacted") == (ErrorCode.POLICY_VIOLATION, -1)
    assert await delete(served, 0, topic="none") == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)
    internal = await delete(served, 0, topic="__consumer_offsets")
    assert internal == (ErrorCode.INVALID_TOPIC_EXCEPTION, -1)


@with_broker()
async def test_the_answer_waits_for_living_followers(served: Served) -> None:
    served.broker.metadata.brokers[2] = KnownBroker(2, {}, None)
    partition = served.lead(replicas=(BROKER_ID, 2))
    partition.append(batch_of([b"a", b"b"]), 0)
    partition.fetched_by(2, 2, 0, 0)
    task = asyncio.create_task(delete(served, 2))
    await asyncio.sleep(0)
    assert not task.done()
    partition.fetched_by(2, 2, 2, 0)
    assert await task == (0, 2)
    partition.append(batch_of([b"c"]), 0)
    partition.fetched_by(2, 3, 2, 0)
    assert await delete(served, 3, timeout_ms=1) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    del served.broker.metadata.brokers[2]
    assert await delete(served, 3, timeout_ms=1) == (0, 3)
