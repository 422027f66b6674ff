"""Shards: made and loaded when their partition is led, closed when it is not, never half."""

from __future__ import annotations

import asyncio
from pathlib import Path

from odradek.kafka.admin.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from odradek.kafka.broker.shards_clock import Alarm, Clock
from odradek.kafka.coordinator.shard import Status
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import OffsetCommitResponse
from odradek.kafka.wire.records import Record
from tests.kafka.broker.coordinated import (
    OFFSETS_ID,
    commit,
    commit_of,
    committed,
    coordinate_groups,
    coordinate_transactions,
    join,
    know,
    lead_groups,
    until,
)
from tests.kafka.broker.served import Served, serving, state_of, with_broker

NOW = 1_000_000


def lose_groups(served: Served, epoch: int) -> None:
    state = state_of(0, 2, epoch, (1, 2))
    served.broker.partitions.follow(state, CONSUMER_OFFSETS, OFFSETS_ID)


@with_broker()
async def test_who_does_not_lead_does_not_coordinate(served: Served) -> None:
    assert await commit(served, 1) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    know(served, "t")
    assert await commit(served, 1) == ErrorCode.NOT_COORDINATOR
    know(served, CONSUMER_OFFSETS, leader=2)
    assert await commit(served, 1) == ErrorCode.NOT_COORDINATOR
    assert (await join(served)).error_code == ErrorCode.NOT_COORDINATOR


def test_what_was_committed_is_there_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path) as served:
            await coordinate_groups(served)
            for number in range(500):
                assert await commit(served, number, f"after {number}") == 0
        async with serving(tmp_path, {"offsets.load.buffer.size": 1000}) as served:
            await coordinate_groups(served, epoch=1)
            assert await committed(served) == (499, "after 499", 0)

    asyncio.run(story())


@with_broker()
async def test_while_it_loads_a_shard_says_so(served: Served) -> None:
    know(served, "t")
    know(served, CONSUMER_OFFSETS)
    lead_groups(served)
    assert await commit(served, 1) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert (await committed(served))[2] == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert served.broker.coordinators.groups.is_loading
    await until(lambda: not served.broker.coordinators.groups.is_loading)
    assert await commit(served, 1) == 0


@with_broker()
async def test_a_log_that_makes_no_sense_is_not_served(served: Served) -> None:
    await coordinate_groups(served)
    assert await commit(served, 1) == 0
    partition = served.broker.partitions.get(CONSUMER_OFFSETS, 0)
    assert partition is not None
    nonsense = write_batch([Record(0, NOW, b"\0\1 no group", b"")])
    partition.append(nonsense, NOW, Origin.COORDINATOR)
    lose_groups(served, 1)
    lead_groups(served, epoch=2, replicas=(1, 2))
    shard = served.broker.coordinators.groups.here[0]
    await until(lambda: not [it for it in served.broker.tasks.names() if "load" in it])
    assert shard.shard.status is Status.LOADING
    assert await commit(served, 1) == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


@with_broker(group_initial_rebalance_delay_ms=60_000)
async def test_who_waits_hears_that_another_coordinates(served: Served) -> None:
    shard = await coordinate_groups(served)
    joining = asyncio.ensure_future(join(served))
    await until(lambda: shard.shard.desk.groups)
    assert not joining.done()
    lose_groups(served, 1)
    assert (await joining).error_code == ErrorCode.NOT_COORDINATOR
    assert await commit(served, 1) == ErrorCode.NOT_COORDINATOR
    assert served.broker.coordinators.groups.here == {}


@with_broker()
async def test_who_leads_on_under_a_new_epoch_coordinates_on(served: Served) -> None:
    shard = await coordinate_groups(served)
    lead_groups(served, epoch=1)
    assert served.broker.coordinators.groups.here[0] is shard
    assert await commit(served, 3) == 0


@with_broker()
async def test_a_partition_that_is_stopped_is_no_shard(served: Served) -> None:
    shard = await coordinate_groups(served)
    served.broker.partitions.stop(shard.partition.where, delete=True)
    assert served.broker.coordinators.groups.here == {}


@with_broker()
async def test_offsets_of_deleted_topics_are_forgotten(served: Served) -> None:
    shard = await coordinate_groups(served)
    await commit(served, 7)
    for heard in served.broker.metadata.updated:
        heard([shard.partition.where._replace(topic="t")])
    assert (await committed(served))[0] == -1


@with_broker(offsets_retention_check_interval_ms=5)
async def test_offsets_whose_time_is_over_are_forgotten(served: Served) -> None:
    await coordinate_groups(served)
    assert await commit(served, 7) == 0
    mortal = commit_of(8, partition=1, retention_time_ms=1)
    await served.ask(mortal, 4, OffsetCommitResponse)
    shard = served.broker.coordinators.groups.shard_of("g")
    offsets = shard.desk.groups["g"].offsets
    await until(lambda: len(offsets.logged) == 1)
    assert await committed(served) == (7, "", 0)


@with_broker()
async def test_the_epoch_of_a_coordinator_is_that_of_its_partition(served: Served) -> None:
    served.broker.producer_ids.prefetch = lambda: None  # type: ignore[method-assign]
    shard = await coordinate_transactions(served, epoch=5)
    assert shard.shard.coordinator_epoch == 5
    assert served.broker.coordinators.transactions.partition_of("x") == 0
    assert shard.partition.where == (TRANSACTION_STATE, 0)


def test_an_alarm_rings_at_the_earliest_time_that_was_asked_for() -> None:
    async def story() -> None:
        clock, rung = Clock(NOW), asyncio.Event()
        alarm = Alarm(clock, rung.set)
        assert clock.now_ms() in range(NOW, NOW + 1000)
        alarm.set(clock.now_ms() + 60_000)
        alarm.set(clock.now_ms() + 5)
        alarm.set(clock.now_ms() + 30_000)
        alarm.set(None)
        await asyncio.wait_for(rung.wait(), 20)
        alarm.set(clock.now_ms() + 60_000)
        alarm.cancel()

    asyncio.run(story())
