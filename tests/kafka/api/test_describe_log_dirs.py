"""Log directories are described with what is in them, and those that failed by their error."""

from __future__ import annotations

from odradek.kafka.storage.names import Purpose
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from odradek.runtime.disk import DiskBroken
from tests.kafka.api.administered import Administered, administered
from tests.kafka.storage.logs import NOW_MS, batch_of

NEWEST = 4


async def describe(
    stage: Administered,
    topics: list[DescribableLogDirTopic] | None = None,
    version: int = NEWEST,
) -> list[DescribeLogDirsResult]:
    message = DescribeLogDirsRequest(topics=topics)
    return (await stage.ask(message, version, DescribeLogDirsResponse)).results


def partitions(result: DescribeLogDirsResult) -> dict[tuple[str, int], DescribeLogDirsPartition]:
    return {(it.name, each.partition_index): each for it in result.topics for each in it.partitions}


@administered(directory_count=2)
async def test_every_replica_is_in_one_directory_with_its_size(stage: Administered) -> None:
    await stage.create("t", 4)
    partition = stage.broker.partitions.get("t", 0)
    assert partition is not None
    partition.append(batch_of([b"a", b"b"]), NOW_MS)
    for version in range(NEWEST + 1):
        results = await describe(stage, version=version)
        assert [it.log_dir for it in results] == [it.path for it in stage.broker.directories.online]
        assert all(it.error_code == ErrorCode.NONE for it in results)
        described = [partitions(it) for it in results]
        assert [len(it) for it in described] == [2, 2]
        together = described[0] | described[1]
        assert together["t", 0].partition_size == partition.log.size() > 0
        assert together["t", 1].partition_size == 0
        assert all((it.offset_lag, it.is_future_key) == (0, False) for it in together.values())
        for result in results if version == NEWEST else ():
            assert 0 < result.usable_bytes <= result.total_bytes


@administered()
async def test_only_the_partitions_that_were_asked_for_are_told(stage: Administered) -> None:
    await stage.create("t", 3)
    await stage.create("u")
    wanted = [
        DescribableLogDirTopic(topic="t", partitions=[1, 9]),
        DescribableLogDirTopic(topic="x", partitions=[0]),
    ]
    (result,) = await describe(stage, wanted)
    assert partitions(result).keys() == {("t", 1)}
    (result,) = await describe(stage, [])
    assert result.topics == []


@administered(directory_count=2)
async def test_a_log_that_is_to_take_anothers_place_is_told_apart(stage: Administered) -> None:
    await stage.create("t")
    partition = stage.broker.partitions.get("t", 0)
    assert partition is not None
    partition.append(batch_of([b"a", b"b", b"c"]), NOW_MS)
    home = stage.broker.directories.directory_of(partition.log)
    (other,) = (it for it in stage.broker.directories.online if it is not home)
    settings = partition.log.settings
    other.create(partition.where, settings, None, lambda: 0.0, Purpose.FUTURE, "0" * 32)
    results = {it.log_dir: partitions(it) for it in await describe(stage)}
    assert not results[home.path]["t", 0].is_future_key
    future = results[other.path]["t", 0]
    assert (future.is_future_key, future.offset_lag) == (True, 3)


@administered(directory_count=2)
async def test_a_directory_that_failed_is_told_as_such(stage: Administered) -> None:
    lost, _ = stage.broker.directories.online
    stage.broker.partitions.fail_directory(lost, DiskBroken(lost.path, "smoke"))
    whole, failed = await describe(stage)
    assert whole.error_code == ErrorCode.NONE
    assert (failed.log_dir, failed.error_code) == (lost.path, ErrorCode.KAFKA_STORAGE_ERROR)
    assert (failed.topics, failed.total_bytes, failed.usable_bytes) == ([], -1, -1)
