"""Fetch: what is read, how much of it, and how long an answer waits."""

from __future__ import annotations

import asyncio
from pathlib import Path

from odradek.kafka.broker.shards_line import Line, Wanted
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.message_set import read_message_set
from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
    ReplicaState,
)
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.os_file import OsFile
from tests.kafka.broker.asking import (
    FETCH_VERSION,
    NAMES_VERSION,
    fetch_of,
    get,
    put,
    put_batch,
    told,
    values_of,
)
from tests.kafka.broker.served import (
    BROKER_ID,
    TOPIC,
    TOPIC_ID,
    Served,
    serving,
    state_of,
    with_broker,
)
from tests.kafka.storage.logs import batch_of, marker_of

AT_ONCE_S = 20  # Well before a fetch that rests would be answered.
OUT_OF_RANGE = ErrorCode.OFFSET_OUT_OF_RANGE


async def waiting(served: Served, message: FetchRequest) -> asyncio.Task[list[PartitionData]]:
    """A fetch that has found too little, and rests."""
    task = asyncio.create_task(get(served, message))
    await asyncio.sleep(0)
    assert served.broker.parked.fetches == 1
    return task


@with_broker()
async def test_every_version_reads_what_was_written(served: Served) -> None:
    served.lead()
    await put(served, b"a", b"b")
    for version in range(FETCH_VERSION + 1):
        (data,) = await get(served, fetch_of(0), version)
        assert (data.error_code, data.high_watermark) == (0, 2)
        assert data.last_stable_offset == (2 if version >= 4 else -1)
        assert data.log_start_offset == (0 if version >= 5 else -1)
        if version >= 4:
            assert values_of(data) == [b"a", b"b"]
            assert not data.aborted_transactions


@with_broker()
async def test_old_clients_get_old_formats(served: Served) -> None:
    served.lead()
    await put(served, b"a", b"b")
    for version, magic in ((0, 0), (1, 0), (2, 1), (3, 1)):
        (data,) = await get(served, fetch_of(1), version)
        records = memoryview(data.records or b"")
        assert records[16] == magic
        assert [each.value for each in read_message_set(records)] == [b"b"]
    served.configs.topics["t"] = {"message.downconversion.enable": "false"}
    (data,) = await get(served, fetch_of(0), 3)
    assert data.error_code == ErrorCode.UNSUPPORTED_VERSION
    (data,) = await get(served, fetch_of(0), 4)
    assert data.error_code == 0


@with_broker()
async def test_zstd_is_for_those_who_know_it(served: Served) -> None:
    served.lead()
    await put_batch(served, batch_of([b"x" * 100], codec=Codec.ZSTD))
    for version in (1, 4, 9):
        (data,) = await get(served, fetch_of(0), version)
        assert data.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    (data,) = await get(served, fetch_of(0), 10)
    assert values_of(data) == [b"x" * 100]


@with_broker()
async def test_an_offset_inside_a_batch_gives_the_whole_batch(served: Served) -> None:
    served.lead()
    await put(served, b"a", b"b", b"c")
    await put(served, b"d")
    (data,) = await get(served, fetch_of(1))
    assert values_of(data) == [b"a", b"b", b"c", b"d"]


@with_broker()
async def test_an_offset_that_is_not_there_is_out_of_range(served: Served) -> None:
    served.lead()
    await put(served, b"a")
    message = fetch_of(2, wait_ms=10_000)
    (data,) = await get(served, message)
    assert (data.error_code, data.high_watermark, data.log_start_offset) == (OUT_OF_RANGE, -1, -1)


@with_broker()
async def test_who_leads_and_in_which_epoch_is_checked(served: Served) -> None:
    served.lead(epoch=5)
    for epoch, error in (
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (5, ErrorCode.NONE),
    ):
        (data,) = await get(served, fetch_of(0, epoch=epoch))
        assert data.error_code == error
    (data,) = await get(served, fetch_of(0, topic="other"))
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@with_broker()
async def test_a_topic_is_known_by_its_id(served: Served) -> None:
    served.lead()
    await put(served, b"a")
    (data,) = await get(served, fetch_of(0, topic="ignored"), FETCH_VERSION)
    assert values_of(data) == [b"a"]
    (data,) = await get(served, fetch_of(0, topic_id=bytes(range(16))), FETCH_VERSION)
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_ID


# How much


@with_broker()
async def test_the_first_batch_comes_whole_and_the_rest_within_the_limits(served: Served) -> None:
    served.lead(index=0)
    served.lead(index=1)
    for index in (0, 1):
        partition = served.broker.partitions.get("t", index)
        assert partition is not None
        for _ in range(3):
            partition.append(batch_of([bytes(100)]), 0)
    size = len(batch_of([bytes(100)]))

    async def sizes(*, bytes_max: int, partition_bytes_max: int, version: int) -> list[int]:
        message = fetch_of(
            0, 0, bytes_max=bytes_max, partition_bytes_max=partition_bytes_max, wait_ms=0
        )
        return [len(each.records or b"") for each in await get(served, message, version)]

    assert await sizes(bytes_max=1, partition_bytes_max=1, version=NAMES_VERSION) == [size, 0]
    assert await sizes(bytes_max=1 << 20, partition_bytes_max=1, version=12) == [size, 0]
    assert await sizes(bytes_max=1 << 20, partition_bytes_max=size, version=12) == [size, size]
    assert await sizes(bytes_max=4 * size, partition_bytes_max=1 << 20, version=12) == [
        3 * size,
        size,
    ]
    # Before version 3 a client that asked for too little got nothing.
    assert await sizes(bytes_max=1 << 20, partition_bytes_max=1, version=2) == [0, 0]


@with_broker(**{"fetch.max.bytes": 1024})
async def test_the_broker_has_a_limit_of_its_own(served: Served) -> None:
    partition = served.lead()
    for _ in range(20):
        partition.append(batch_of([bytes(100)]), 0)
    (data,) = await get(served, fetch_of(0))
    assert 0 < len(data.records or b"") <= 1024


# How long


@with_broker()
async def test_a_fetch_rests_until_there_is_enough(served: Served) -> None:
    partition = served.lead()
    size = len(batch_of([b"x"]))
    task = await waiting(served, fetch_of(0, bytes_min=2 * size, wait_ms=60_000))
    await put(served, b"x")
    await asyncio.sleep(0)
    assert not task.done()
    await put(served, b"y")
    assert [values_of(each) for each in await task] == [[b"x", b"y"]]
    assert not partition.watchers and served.broker.parked.fetches == 0


@with_broker()
async def test_what_is_there_counts_towards_enough(served: Served) -> None:
    served.lead()
    size = len(batch_of([b"x"]))
    await put(served, b"x")
    task = await waiting(served, fetch_of(0, bytes_min=2 * size, wait_ms=60_000))
    await put(served, b"y")
    assert [values_of(each) for each in await task] == [[b"x", b"y"]]


@with_broker()
async def test_a_fetch_rests_no_longer_than_it_wants_to(served: Served) -> None:
    served.lead()
    await put(served, b"x")
    (data,) = await get(served, fetch_of(0, bytes_min=10_000, wait_ms=5))
    assert values_of(data) == [b"x"]
    (data,) = await get(served, fetch_of(1, wait_ms=5))
    assert data.error_code == 0 and not data.records


@with_broker()
async def test_only_those_who_wait_for_a_partition_are_woken_by_it(served: Served) -> None:
    served.lead(index=0)
    other = served.lead(index=1)
    task = await waiting(served, fetch_of(-1, 0, wait_ms=60_000))
    await put(served, b"x")
    await asyncio.sleep(0)
    assert not task.done()
    other.append(batch_of([b"y"]), 0)
    assert [values_of(each) for each in await task] == [[b"y"]]


@with_broker()
async def test_a_fetch_that_rests_hears_that_its_partition_is_gone(served: Served) -> None:
    partition = served.lead()
    task = await waiting(served, fetch_of(0, wait_ms=60_000))
    served.broker.partitions.stop(partition.where, delete=True)
    (data,) = await task
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@with_broker()
async def test_a_client_that_goes_leaves_nothing_behind(served: Served) -> None:
    partition = served.lead()
    client = await served.connect()
    client.send(fetch_of(0, wait_ms=60_000), NAMES_VERSION)
    while not served.broker.parked.fetches:
        await asyncio.sleep(0.001)
    await client.close()
    while served.broker.parked.fetches or partition.watchers:
        await asyncio.sleep(0.001)


# Isolation


async def transact(served: Served, kind: MarkerType | None, value: bytes, producer: int) -> None:
    partition = served.broker.partitions.get("t", 0)
    assert partition is not None
    data = batch_of([value], producer_id=producer, is_transactional=True)
    partition.append(data, 0, Origin.COORDINATOR)
    if kind is not None:
        partition.append(marker_of(producer, kind), 0, Origin.COORDINATOR)


@with_broker(**{"transaction.partition.verification.enable": "false"})
async def test_committed_readers_stop_at_open_transactions_and_learn_of_aborted_ones(
    served: Served,
) -> None:
    served.lead()
    await put(served, b"plain")
    await transact(served, MarkerType.ABORT, b"aborted", 7)
    await transact(served, None, b"open", 8)
    await put(served, b"behind")
    (data,) = await get(served, fetch_of(0, isolation_level=1))
    assert values_of(data)[:2] == [b"plain", b"aborted"] and len(values_of(data)) == 3
    assert [(each.producer_id, each.first_offset) for each in data.aborted_transactions or ()] == [
        (7, 1)
    ]
    assert (data.last_stable_offset, data.high_watermark) == (3, 5)
    (data,) = await get(served, fetch_of(3, isolation_level=0))
    assert values_of(data) == [b"open", b"behind"] and data.aborted_transactions is None


@with_broker(**{"transaction.partition.verification.enable": "false"})
async def test_the_end_of_a_transaction_wakes_committed_readers(served: Served) -> None:
    partition = served.lead()
    await transact(served, None, b"open" * 100, 8)
    task = await waiting(served, fetch_of(0, isolation_level=1, bytes_min=200, wait_ms=60_000))
    partition.append(marker_of(8, MarkerType.COMMIT), 0, Origin.COORDINATOR)
    (data,) = await task
    assert values_of(data)[0] == b"open" * 100


# Followers


def follower_fetch(offset: int, *, wait_ms: int = 0, last_epoch: int = -1) -> FetchRequest:
    partition = FetchPartition(
        partition=0,
        fetch_offset=offset,
        partition_max_bytes=1 << 20,
        last_fetched_epoch=last_epoch,
        log_start_offset=0,
    )
    return FetchRequest(
        replica_state=ReplicaState(replica_id=2, replica_epoch=9),
        max_wait_ms=wait_ms,
        min_bytes=1,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=[partition])],
    )


def in_session(
    offset: int, session_id: int = 0, session_epoch: int = 0, wait_ms: int = 0
) -> FetchRequest:
    """A follower's fetch that opens a session, or goes on with it."""
    asked = follower_fetch(offset, wait_ms=wait_ms)
    (topic,) = asked.topics
    (partition,) = topic.partitions
    named = FetchPartition(
        partition=partition.partition,
        current_leader_epoch=0,
        fetch_offset=offset,
        partition_max_bytes=partition.partition_max_bytes,
    )
    return FetchRequest(
        replica_state=asked.replica_state,
        max_wait_ms=wait_ms,
        min_bytes=1,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=[named])],
    )


@with_broker()
async def test_a_follower_sees_what_is_not_committed_and_commits_it_by_going_on(
    served: Served,
) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    partition.append(batch_of([b"a"]), 0)
    (data,) = await get(served, fetch_of(0))
    assert not data.records
    (data,) = await get(served, follower_fetch(0), FETCH_VERSION)
    assert values_of(data) == [b"a"] and partition.log.high_watermark == 0
    (data,) = await get(served, follower_fetch(1), FETCH_VERSION)
    assert partition.log.high_watermark == data.high_watermark == 1
    (data,) = await get(served, fetch_of(0))
    assert values_of(data) == [b"a"]


@with_broker()
async def test_a_consumer_is_woken_when_the_follower_has_it(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    task = await waiting(served, fetch_of(0, wait_ms=60_000))
    partition.append(batch_of([b"a"]), 0)
    await asyncio.sleep(0)
    assert not task.done()
    await get(served, follower_fetch(1), FETCH_VERSION)
    assert [values_of(each) for each in await task] == [[b"a"]]


@with_broker()
async def test_a_follower_that_rests_is_woken_by_an_append(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    message = follower_fetch(0, wait_ms=60_000)
    task = asyncio.create_task(served.ask(message, FETCH_VERSION, FetchResponse))
    await asyncio.sleep(0)
    partition.append(batch_of([b"a"]), 0)
    assert [values_of(each) for each in told(await task)] == [[b"a"]]


@with_broker()
async def test_a_follower_that_rests_in_its_session_gets_what_is_appended(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    opened = await served.ask(in_session(0), FETCH_VERSION, FetchResponse)
    for number in range(3):
        message = in_session(number, opened.session_id, number + 1, wait_ms=60_000)
        task = asyncio.create_task(served.ask(message, FETCH_VERSION, FetchResponse))
        await asyncio.sleep(0)
        assert partition.log.high_watermark == number
        partition.append(batch_of([b"%d" % number]), 0)
        assert [values_of(each) for each in told(await task)] == [[b"%d" % number]]


def named(offsets: dict[int, int], session_id: int = 0, session_epoch: int = -1) -> FetchRequest:
    """A follower's fetch of partitions from offsets, which has a minute to rest."""
    partitions = [
        FetchPartition(
            partition=index,
            current_leader_epoch=0,
            fetch_offset=offset,
            partition_max_bytes=1 << 20,
        )
        for index, offset in offsets.items()
    ]
    return FetchRequest(
        replica_state=ReplicaState(replica_id=2, replica_epoch=9),
        max_wait_ms=60_000 if session_epoch else 0,
        min_bytes=1,
        session_id=session_id,
        session_epoch=session_epoch,
        topics=[FetchTopic(topic_id=TOPIC_ID, partitions=partitions)],
    )


def append_one_after_the_other(served: Served) -> None:
    """As coordinators do: once the first is on all replicas, the second is written."""
    first, second = (served.lead(index=it, replicas=(BROKER_ID, 2)) for it in (0, 1))
    then = Wanted(batch_of([b"a"]), 60_000, lambda _: second.append(batch_of([b"b"]), 0))
    Line(served.broker, first).append([then], 0)


async def get_at_once(served: Served, message: FetchRequest) -> FetchResponse:
    asked = served.ask(message, FETCH_VERSION, FetchResponse)
    return await asyncio.wait_for(asked, AT_ONCE_S)


@with_broker()
async def test_a_follower_gets_at_once_what_its_own_fetch_has_brought_about(
    served: Served,
) -> None:
    append_one_after_the_other(served)
    answer = await get_at_once(served, named({1: 0, 0: 1}))
    assert [values_of(each) for each in told(answer)] == [[b"b"], []]


@with_broker()
async def test_a_follower_gets_at_once_what_its_own_fetch_has_brought_about_in_its_session(
    served: Served,
) -> None:
    append_one_after_the_other(served)
    opened = await get_at_once(served, named({0: 0, 1: 0}, session_epoch=0))
    assert [values_of(each) for each in told(opened)] == [[b"a"], []]
    answer = await get_at_once(served, named({0: 1}, opened.session_id, 1))
    assert [b"b"] in [values_of(each) for each in told(answer)]


@with_broker()
async def test_a_follower_that_rests_hears_that_another_leads_although_there_is_more(
    served: Served,
) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    opened = await served.ask(in_session(0), FETCH_VERSION, FetchResponse)
    message = in_session(0, opened.session_id, 1, wait_ms=60_000)
    task = asyncio.create_task(served.ask(message, FETCH_VERSION, FetchResponse))
    await asyncio.sleep(0)
    partition.append(batch_of([b"a"]), 0)
    served.broker.partitions.follow(state_of(0, 2, 1, (BROKER_ID, 2)), TOPIC, TOPIC_ID)
    (data,) = told(await task)
    assert data.error_code == ErrorCode.FENCED_LEADER_EPOCH and not data.records


@with_broker()
async def test_a_stranger_is_no_follower(served: Served) -> None:
    served.lead(replicas=(BROKER_ID, 3))
    (data,) = await get(served, follower_fetch(0), FETCH_VERSION)
    assert data.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


@with_broker()
async def test_a_reader_whose_history_is_another_learns_where_it_parts(served: Served) -> None:
    partition = served.lead(epoch=1)
    partition.append(batch_of([b"a", b"b"]), 0)
    served.lead(epoch=4)
    partition.append(batch_of([b"c"]), 0)
    for offset, last_epoch, expected in ((3, 2, (1, 2)), (3, 1, (1, 2)), (2, 1, None)):
        (data,) = await get(served, fetch_of(offset, last_epoch=last_epoch))
        found = data.diverging_epoch
        assert (found.epoch, found.end_offset) == (expected or (-1, -1))
        assert data.error_code == 0
        assert bool(data.records) == (expected is None)
    (data,) = await get(served, fetch_of(3, last_epoch=9))
    assert data.error_code == OUT_OF_RANGE


# Cold data


class ColdFile(OsFile):
    """A file of which memory holds nothing."""

    def pread_cached(self, position: int, count: int) -> bytes | None:
        return None

    def pread_cached_into(self, position: int, room: memoryview) -> int | None:
        return None


class ColdDisk(OsDisk):
    """A disk whose files have to be waited for."""

    def open(self, path: str, *, create: bool = False, read_only: bool = False) -> OsFile:
        warm = super().open(path, create=create, read_only=read_only)
        assert isinstance(warm, OsFile)
        cold, warm._descriptor = ColdFile(path, warm._descriptor), -1
        return cold


def test_what_memory_does_not_hold_is_read_elsewhere(tmp_path: Path) -> None:
    async def story() -> None:
        async with serving(tmp_path, disk=ColdDisk()) as served:
            served.lead(index=0)
            other = served.lead(index=1)
            await put(served, b"a")
            other.append(batch_of([b"b"]), 0)
            message = fetch_of(0, 0, bytes_max=4 << 20)
            assert [values_of(each) for each in await get(served, message)] == [[b"a"], [b"b"]]
            await put(served, b"c")
            (data,) = await get(served, fetch_of(1))
            assert values_of(data) == [b"c"]
            await put(served, bytes(500_000))
            (data,) = await get(served, fetch_of(2, bytes_max=4 << 20))
            assert values_of(data) == [bytes(500_000)]

    asyncio.run(story())
