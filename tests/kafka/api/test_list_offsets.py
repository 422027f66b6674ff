"""ListOffsets: times, and what stands for one."""

from __future__ import annotations

from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from tests.kafka.broker.asking import put
from tests.kafka.broker.served import BROKER_ID, Served, with_broker
from tests.kafka.storage.logs import batch_of, marker_of

LATEST, EARLIEST, LARGEST, EARLIEST_LOCAL, TIERED = -1, -2, -3, -4, -5
VERSION = 9


async def ask(
    served: Served,
    timestamp: int,
    *,
    version: int = VERSION,
    isolation_level: int = 0,
    replica_id: int = -1,
    epoch: int = -1,
    count: int = 1,
    index: int = 0,
) -> ListOffsetsPartitionResponse:
    wanted = ListOffsetsPartition(
        partition_index=index,
        timestamp=timestamp,
        current_leader_epoch=epoch,
        max_num_offsets=count if version == 0 else 1,
    )
    message = ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation_level if version >= 2 else 0,
        topics=[ListOffsetsTopic(name="t", partitions=[wanted])],
    )
    answer = await served.ask(message, version, ListOffsetsResponse)
    return answer.topics[0].partitions[0]


async def offset(served: Served, timestamp: int, *, isolation_level: int = 0) -> tuple[int, int]:
    found = await ask(served, timestamp, isolation_level=isolation_level)
    assert found.error_code == 0
    return found.offset, found.timestamp


@with_broker()
async def test_start_and_end_in_every_version(served: Served) -> None:
    served.lead(epoch=3)
    await put(served, b"a", b"b")
    for version in range(1, VERSION + 1):
        latest = await ask(served, LATEST, version=version)
        earliest = await ask(served, EARLIEST, version=version)
        assert (latest.offset, latest.timestamp) == (2, -1)
        assert (earliest.offset, earliest.timestamp) == (0, -1)
        assert latest.leader_epoch == earliest.leader_epoch == (3 if version >= 4 else -1)


@with_broker()
async def test_an_empty_partition_starts_in_the_epoch_of_its_leader(served: Served) -> None:
    served.lead(epoch=3)
    earliest = await ask(served, EARLIEST)
    assert (earliest.offset, earliest.leader_epoch) == (0, 3)


@with_broker()
async def test_what_stands_for_no_time_is_refused(served: Served) -> None:
    served.lead()
    for version in range(VERSION + 1):
        found = await ask(served, TIERED - 1, version=version)
        assert found.error_code == ErrorCode.UNSUPPORTED_VERSION


@with_broker()
async def test_the_first_record_that_is_not_older_than_a_time(served: Served) -> None:
    partition = served.lead(overrides={"segment.bytes": 200, "index.interval.bytes": 0})
    for time in (100, 300, 200, 400, 500):
        partition.append(batch_of([b"x"], timestamp=time), 0)
    assert len(partition.log.segments) > 1
    assert await offset(served, 0) == (0, 100)
    assert await offset(served, 101) == (1, 300)
    assert await offset(served, 300) == (1, 300)
    assert await offset(served, 301) == (3, 400)
    assert await offset(served, 501) == (-1, -1)


@with_broker()
async def test_a_time_is_looked_up_inside_a_batch(served: Served) -> None:
    partition = served.lead()
    partition.append(batch_of([b"a", b"b"], timestamp=100), 0)
    assert await offset(served, 50) == (0, 100)


@with_broker()
async def test_the_largest_timestamp_and_the_versions_that_know_it(served: Served) -> None:
    partition = served.lead()
    assert await offset(served, LARGEST) == (-1, -1)
    for time in (100, 300, 200):
        partition.append(batch_of([b"x"], timestamp=time), 0)
    assert await offset(served, LARGEST) == (1, 300)
    assert await offset(served, EARLIEST_LOCAL) == (0, -1)
    assert await offset(served, TIERED) == (-1, -1)
    for timestamp, first in ((LARGEST, 7), (EARLIEST_LOCAL, 8), (TIERED, 9)):
        older = await ask(served, timestamp, version=first - 1)
        assert older.error_code == ErrorCode.UNSUPPORTED_VERSION
        assert (await ask(served, timestamp, version=first)).error_code == 0


@with_broker(**{"transaction.partition.verification.enable": "false"})
async def test_the_end_is_what_the_reader_may_see(served: Served) -> None:
    partition = served.lead()
    await put(served, b"a")
    data = batch_of([b"b"], producer_id=7, is_transactional=True, timestamp=700)
    partition.append(data, 0, Origin.COORDINATOR)
    assert (await offset(served, LATEST))[0] == 2
    assert (await offset(served, LATEST, isolation_level=1))[0] == 1
    assert await offset(served, LARGEST, isolation_level=1) == await offset(served, LARGEST)
    partition.append(marker_of(7, MarkerType.COMMIT), 0, Origin.COORDINATOR)
    assert (await offset(served, LATEST, isolation_level=1))[0] == 3


@with_broker()
async def test_what_is_not_committed_is_seen_by_followers_alone(served: Served) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    partition.append(batch_of([b"a"], timestamp=100), 0)
    assert await offset(served, LATEST) == (0, -1)
    assert await offset(served, 100) == (-1, -1)
    assert (await ask(served, LATEST, replica_id=2)).offset == 1
    assert (await ask(served, 100, replica_id=2)).offset == 0


@with_broker()
async def test_a_new_leader_does_not_know_the_end_before_its_high_watermark_is_there(
    served: Served,
) -> None:
    partition = served.lead(replicas=(BROKER_ID, 2))
    partition.append(batch_of([b"a"], timestamp=100), 0)
    served.lead(replicas=(BROKER_ID, 2), epoch=1)
    for timestamp in (LATEST, 100):
        assert (await ask(served, timestamp)).error_code == ErrorCode.OFFSET_NOT_AVAILABLE
        older = await ask(served, timestamp, version=4)
        assert older.error_code == ErrorCode.LEADER_NOT_AVAILABLE
    partition.fetched_by(2, 1, 0, 0)
    assert await offset(served, LATEST) == (1, -1)


@with_broker()
async def test_version_zero_knows_the_starts_of_segments(served: Served) -> None:
    partition = served.lead(overrides={"segment.bytes": 200})
    for _ in range(5):
        await put(served, bytes(60))
    starts = [each.base_offset for each in partition.log.segments]
    assert len(starts) > 2
    latest = await ask(served, LATEST, version=0, count=100)
    assert latest.old_style_offsets == [5, *reversed(starts)]
    assert (await ask(served, LATEST, version=0)).old_style_offsets == [5]
    assert (await ask(served, EARLIEST, version=0)).old_style_offsets == [0]
    assert (await ask(served, 5, version=0)).old_style_offsets == []


@with_broker()
async def test_what_is_wrong_is_said_of_each_partition(served: Served) -> None:
    served.lead(epoch=2)
    assert (await ask(served, LATEST, epoch=1)).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert (await ask(served, LATEST, epoch=3)).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    unknown = await ask(served, LATEST, index=7)
    assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    twice = [ListOffsetsPartition(partition_index=0, timestamp=LATEST) for _ in range(2)]
    message = ListOffsetsRequest(
        replica_id=-1, topics=[ListOffsetsTopic(name="t", partitions=twice)]
    )
    answer = await served.ask(message, VERSION, ListOffsetsResponse)
    assert {each.error_code for each in answer.topics[0].partitions} == {ErrorCode.INVALID_REQUEST}
