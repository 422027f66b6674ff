"""A transaction over two brokers: verified, ended and made visible across sockets."""

from __future__ import annotations

import asyncio
from pathlib import Path

from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.api.grouped import init
from tests.kafka.broker.pairs import Pair, tell

BOTH = {"t": [0, 1]}


def test_a_transaction_spans_both_brokers(tmp_path: Path) -> None:
    async def story(both: Pair) -> None:
        id_, group = await both.key_of(1, 1), await both.key_of(0, 2)
        producer = await both.begin(id_, 1)
        for is_commit, committed in ((True, 3), (False, 6)):
            codes = await producer.add(BOTH)
            while ErrorCode.CONCURRENT_TRANSACTIONS in codes.values():  # Markers are on their way.
                await asyncio.sleep(0.002)
                codes = await producer.add(BOTH)
            assert codes == {("t", 0): 0, ("t", 1): 0}
            for partition in (0, 1):
                at = both[partition + 1]
                assert await producer.produce(b"a", b"b", partition=partition, at=at) == 0
            assert await producer.add_offsets(group) == 0
            assert await producer.commit_offset(group, committed, at=both[2]) == 0
            assert await producer.end(is_commit=is_commit) == 0
            await both.until(
                lambda end=committed: all(both.stable_offset(it) == end for it in (0, 1))  # type: ignore[misc]
            )
        shard = both[2].broker.coordinators.groups.shard_of(group)
        offsets = shard.desk.groups[group].offsets
        await both.until(lambda: not shard.desk.open_for_producer)
        assert [each.offset for each in offsets.logged.values()] == [3]

    tell(tmp_path, story)


def test_another_broker_says_that_it_does_not_coordinate(tmp_path: Path) -> None:
    async def story(both: Pair) -> None:
        id_ = await both.key_of(1, 1)
        told = await init(both[2], id_)
        assert told.error_code == ErrorCode.NOT_COORDINATOR

    tell(tmp_path, story)


def test_what_the_coordinator_elsewhere_does_not_know_is_refused(tmp_path: Path) -> None:
    async def story(both: Pair) -> None:
        producer = await both.begin(await both.key_of(1, 1), 1)
        assert await producer.add({"t": [0]}) == {("t", 0): 0}
        code = await producer.produce(b"x", partition=1, at=both[2])
        assert code == ErrorCode.TRANSACTION_ABORTABLE

    tell(tmp_path, story)


def test_markers_reach_a_broker_that_was_away(tmp_path: Path) -> None:
    async def story(both: Pair) -> None:
        producer = await both.begin(await both.key_of(1, 1), 1)
        await producer.add(BOTH)
        assert await producer.produce(b"x", partition=1, at=both[2]) == 0
        await both.stop(2)
        assert await producer.end() == 0
        await both.start(2)
        await both.until(
            lambda: both[2].broker.partitions.get("t", 1) and both.stable_offset(1) == 2
        )

    tell(tmp_path, story)
