"""TxnOffsetCommit and AddOffsetsToTxn: offsets that count when their transaction does."""

from __future__ import annotations

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from tests.kafka.api.administered import Administered
from tests.kafka.api.grouped import coordinating, init
from tests.kafka.api.transacting import Transactor


async def committed(broker: Administered, *, require_stable: bool = False) -> tuple[int, int]:
    """Offset and error code of partition 0."""
    topics = [OffsetFetchRequestTopic(name="t", partition_indexes=[0])]
    message = OffsetFetchRequest(group_id="g", topics=topics, require_stable=require_stable)
    response = await broker.ask(message, 7, OffsetFetchResponse)
    only = response.topics[0].partitions[0]
    return only.committed_offset, only.error_code


@coordinating()
async def test_offsets_count_when_the_transaction_commits(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    for version in range(5):
        before = (await committed(broker))[0]
        assert await producer.add_offsets("g", version) == 0
        assert await producer.commit_offset("g", 10 + version, version) == 0
        assert await committed(broker) == (before, 0)
        unstable = await committed(broker, require_stable=True)
        assert unstable == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        assert await producer.end() == 0
        assert await committed(broker, require_stable=True) == (10 + version, 0)


@coordinating()
async def test_offsets_of_an_aborted_transaction_never_were(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    await producer.add_offsets("g")
    assert await producer.commit_offset("g", 10) == 0
    assert await producer.end(is_commit=False) == 0
    assert await committed(broker, require_stable=True) == (-1, 0)


@coordinating()
async def test_offsets_of_no_transaction_are_refused(broker: Administered) -> None:
    producer = Transactor(broker, await init(broker))
    assert await producer.commit_offset("g", 1, 4) == ErrorCode.TRANSACTION_ABORTABLE
    assert await producer.commit_offset("g", 1, 3) == ErrorCode.INVALID_TXN_STATE
    await producer.add_offsets("g")
    assert await producer.commit_offset("g", 1, partition=9) == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    )
    assert await producer.commit_offset("g", 1) == 0
    assert await producer.end() == 0
    assert await producer.commit_offset("g", 2) == ErrorCode.INVALID_TXN_STATE
    assert await committed(broker) == (1, 0)
