"""Coordinators fail over: who leads the partition next knows all that was promised."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import OffsetCommitResponse
from odradek.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from tests.kafka.broker.coordinated import commit_of
from tests.kafka.broker.pairs import Pair, tell

REPLICATED: dict[str, Any] = {
    "offsets_topic_replication_factor": 2,
    "transaction_state_log_replication_factor": 2,
}
ON_ITS_WAY = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)


def test_offsets_outlive_the_broker_that_took_them(tmp_path: Path) -> None:
    async def story(both: Pair) -> None:
        group = await both.key_of(0, 1)
        message = commit_of(42, "forty-two", group=group)
        response = await both[1].ask(message, 7, OffsetCommitResponse)
        assert response.topics[0].partitions[0].error_code == 0
        await both.stop(1)
        asked = OffsetFetchRequest(group_id=group, topics=None)
        found = await both[2].ask(asked, 5, OffsetFetchResponse)
        while found.error_code in ON_ITS_WAY:
            await asyncio.sleep(0.002)
            found = await both[2].ask(asked, 5, OffsetFetchResponse)
        (only,) = found.topics[0].partitions
        assert (only.committed_offset, only.metadata) == (42, "forty-two")

    tell(tmp_path, story, **REPLICATED)


def test_an_open_transaction_is_ended_by_the_next_coordinator(tmp_path: Path) -> None:
    async def story(both: Pair) -> None:
        producer = await both.begin(await both.key_of(1, 1), 1)
        assert await producer.add({"t": [1]}) == {("t", 1): 0}
        assert await producer.produce(b"x", partition=1, at=both[2]) == 0
        await both.stop(1)
        producer.broker = both[2]
        while (code := await producer.end()) in ON_ITS_WAY:
            await asyncio.sleep(0.002)
        assert code == 0
        await both.until(lambda: both.stable_offset(1) == 2)

    tell(tmp_path, story, **REPLICATED)
