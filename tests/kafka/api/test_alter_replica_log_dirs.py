"""Replicas move to other directories; whoever reads or writes meanwhile notices nothing."""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.configs import OF_ALL_BROKERS
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.names import Purpose, TopicPartition, read_directory_name
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopic,
)
from odradek.kafka.wire.messages.create_topics import CreatableTopicConfig
from odradek.runtime.disk import DiskBroken
from tests.kafka.api.administered import Administered, administered
from tests.kafka.api.test_describe_log_dirs import describe, partitions
from tests.kafka.storage.logs import NOW_MS, batch_of, values_of

NEWEST = 2
SMALL_SEGMENTS = [
    CreatableTopicConfig(name="segment.bytes", value="2000"),
    CreatableTopicConfig(name="retention.ms", value="-1"),
]
SLOW = {"replica.alter.log.dirs.io.max.bytes.per.second": "1"}


async def alter(
    stage: Administered, path: str, topic: str = "t", index: int = 0, version: int = NEWEST
) -> ErrorCode:
    wanted = AlterReplicaLogDirTopic(name=topic, partitions=[index])
    message = AlterReplicaLogDirsRequest(dirs=[AlterReplicaLogDir(path=path, topics=[wanted])])
    response = await stage.ask(message, version, AlterReplicaLogDirsResponse)
    (result,) = response.results
    (partition,) = result.partitions
    assert (result.topic_name, partition.partition_index) == (topic, index)
    return ErrorCode(partition.error_code)


def put(partition: Partition, count: int) -> None:
    for number in range(count):
        partition.append(batch_of([b"%d" % number * 40], producer_id=7, sequence=number), NOW_MS)


async def filled(stage: Administered, count: int = 100) -> Partition:
    await stage.create("t", configs=SMALL_SEGMENTS)
    partition = stage.broker.partitions.get("t", 0)
    assert partition is not None
    put(partition, count)
    return partition


def places(stage: Administered, partition: Partition) -> tuple[LogDirectory, LogDirectory]:
    """Where it is, and where it is not."""
    home = stage.broker.directories.directory_of(partition.log)
    (other,) = (it for it in stage.broker.directories.online if it is not home)
    return home, other


def names_in(directory: LogDirectory) -> list[Purpose]:
    names = directory.files.disk.list_directory(directory.path)
    return [found[1] for name in names if (found := read_directory_name(name))]


async def say(stage: Administered, entity: str, texts: dict[str, str]) -> None:
    await stage.broker.configs.write(entity, texts)
    layers = stage.broker.configs
    await stage.until(lambda: layers.layers.of_all == texts)


@administered(directory_count=2)
async def test_a_replica_moves_with_all_that_it_has(stage: Administered) -> None:
    partition = await filled(stage)
    home, other = places(stage, partition)
    before, segments = values_of(partition.log), len(partition.log.segments)
    assert segments > 2
    assert await alter(stage, other.path) is ErrorCode.NONE
    await stage.until(lambda: other.logs.get(partition.where) is partition.log)
    assert values_of(partition.log) == before
    assert (partition.log.high_watermark, partition.log.end_offset) == (100, 100)
    await stage.until(lambda: not len(stage.broker.moves))
    assert names_in(other) == [Purpose.LIVE]
    assert names_in(home) == [Purpose.DELETE]
    results = {it.log_dir: partitions(it) for it in await describe(stage)}
    assert results[home.path] == {}
    assert not results[other.path]["t", 0].is_future_key


@administered(directory_count=2)
async def test_what_is_written_meanwhile_comes_along(stage: Administered) -> None:
    partition = await filled(stage)
    _, other = places(stage, partition)
    assert await alter(stage, other.path, version=0) is ErrorCode.NONE
    count = 100
    while other.logs.get(partition.where) is not partition.log:
        assert partition.append(batch_of([b"%d" % count]), NOW_MS)
        count += 1
        await asyncio.sleep(0)
    partition.append(batch_of([b"after"]), NOW_MS)
    assert len(values_of(partition.log)) == count + 1
    assert partition.log.high_watermark == count + 1


@administered(directory_count=2)
async def test_producers_are_known_after_a_move(stage: Administered) -> None:
    partition = await filled(stage, 5)
    _, other = places(stage, partition)
    assert await alter(stage, other.path) is ErrorCode.NONE
    await stage.until(lambda: partition.where in other.logs)
    again = partition.append(batch_of([b"1" * 40], producer_id=7, sequence=1), NOW_MS)
    assert getattr(again, "is_duplicate", None) is True
    assert partition.log.end_offset == 5


@administered(directory_count=2)
async def test_a_log_that_begins_inside_a_batch_moves_as_it_is(stage: Administered) -> None:
    partition = await filled(stage, 20)
    partition.append(batch_of([b"a", b"b", b"c"]), NOW_MS)
    partition.log.start_offset = 21
    home, other = places(stage, partition)
    assert await alter(stage, other.path) is ErrorCode.NONE
    await stage.until(lambda: partition.where in other.logs)
    log = partition.log
    assert (log.start_offset, log.segments[0].base_offset, log.end_offset) == (21, 20, 23)
    assert partition.where not in home.logs


@administered(directory_count=2)
async def test_while_it_moves_it_is_told_as_such_and_can_be_called_back(
    stage: Administered,
) -> None:
    partition = await filled(stage)
    await say(stage, OF_ALL_BROKERS, SLOW)
    home, other = places(stage, partition)
    stage.broker.replication_quotas.log_dirs.record(10**6, stage.broker.replication_quotas.now_ms())
    assert await alter(stage, other.path) is ErrorCode.NONE
    assert await alter(stage, other.path) is ErrorCode.NONE
    results = {it.log_dir: partitions(it) for it in await describe(stage)}
    future = results[other.path]["t", 0]
    assert (future.is_future_key, future.offset_lag) == (True, 100)
    assert not results[home.path]["t", 0].is_future_key
    assert await alter(stage, home.path) is ErrorCode.NONE
    assert names_in(other) == [Purpose.DELETE]
    assert other.futures == {}
    await stage.until(lambda: not len(stage.broker.moves))
    assert names_in(home) == [Purpose.LIVE]


@administered(directory_count=2)
async def test_a_limit_that_is_lifted_lets_the_move_go_on(stage: Administered) -> None:
    partition = await filled(stage)
    await say(stage, OF_ALL_BROKERS, SLOW)
    _, other = places(stage, partition)
    quotas = stage.broker.replication_quotas
    quotas.log_dirs.record(10**6, quotas.now_ms())
    assert await alter(stage, other.path) is ErrorCode.NONE
    await stage.until(lambda: partition.where in other.futures and len(stage.broker.moves))
    assert quotas.log_dirs.pause_ms(quotas.now_ms()) > 0
    await say(stage, OF_ALL_BROKERS, {})
    await stage.until(lambda: partition.where in other.logs)
    assert quotas.log_dirs.rate(quotas.now_ms()) > 10**5


@administered(directory_count=2)
async def test_what_is_cut_of_the_replica_is_cut_of_the_copy(stage: Administered) -> None:
    partition = await filled(stage)
    await say(stage, OF_ALL_BROKERS, SLOW)
    home, other = places(stage, partition)
    assert await alter(stage, other.path) is ErrorCode.NONE
    await stage.until(lambda: partition.where in other.futures and len(stage.broker.moves))
    await stage.until(lambda: other.futures[partition.where].end_offset)
    partition.log.high_watermark = 3
    home.truncate({partition.where: 3})
    partition.leader_epoch += 1
    for _ in range(50):
        partition.append(batch_of([b"new"]), NOW_MS)
    await say(stage, OF_ALL_BROKERS, {})
    await stage.until(lambda: partition.where in other.logs)
    values = list(values_of(partition.log).values())
    assert values == [b"%d" % it * 40 for it in range(3)] + [b"new"] * 50


@administered(directory_count=2)
async def test_a_topic_that_is_deleted_goes_from_both_directories(stage: Administered) -> None:
    partition = await filled(stage)
    await say(stage, OF_ALL_BROKERS, SLOW)
    home, other = places(stage, partition)
    quotas = stage.broker.replication_quotas
    quotas.log_dirs.record(10**6, quotas.now_ms())
    assert await alter(stage, other.path) is ErrorCode.NONE
    assert stage.broker.partitions.stop(partition.where, delete=True) is ErrorCode.NONE
    assert await stage.broker.partitions.sync_deletions()
    assert names_in(home) == names_in(other) == [Purpose.DELETE]
    assert not len(stage.broker.moves)


@administered(directory_count=2)
async def test_what_cannot_be_is_refused_as_apaches_refuses_it(stage: Administered) -> None:
    partition = await filled(stage, 1)
    home, other = places(stage, partition)
    assert await alter(stage, "/nowhere") is ErrorCode.LOG_DIR_NOT_FOUND
    assert await alter(stage, other.path, "t" * 240) is ErrorCode.INVALID_TOPIC_EXCEPTION
    unknown = await alter(stage, other.path, "unknown")
    assert unknown is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    stage.broker.partitions.fail_directory(other, DiskBroken(other.path, "smoke"))
    assert await alter(stage, other.path) is ErrorCode.KAFKA_STORAGE_ERROR
    assert partition.where in home.logs


@administered(directory_count=3)
async def test_while_a_directory_is_offline_nothing_begins_to_move(stage: Administered) -> None:
    partition = await filled(stage, 1)
    home = stage.broker.directories.directory_of(partition.log)
    lost, other = (it for it in stage.broker.directories.online if it is not home)
    stage.broker.partitions.fail_directory(lost, DiskBroken(lost.path, "smoke"))
    assert await alter(stage, other.path) is ErrorCode.KAFKA_STORAGE_ERROR
    assert other.futures == {}


@administered(directory_count=3)
async def test_a_replica_that_is_not_here_yet_begins_where_it_was_wanted(
    stage: Administered,
) -> None:
    await stage.create("t", 1)
    partition = stage.broker.partitions.get("t", 0)
    assert partition is not None
    assert stage.broker.partitions.stop(partition.where, delete=True) is ErrorCode.NONE
    last = stage.broker.directories.online[-1]
    assert await alter(stage, last.path) is ErrorCode.REPLICA_NOT_AVAILABLE
    await stage.create("u", 5)
    state = stage.broker.partitions.beginnings.preferred
    assert state == {TopicPartition("t", 0): last.path}
    stage.broker.partitions.beginnings.preferred[TopicPartition("v", 0)] = last.path
    await stage.create("v", 1)
    assert TopicPartition("v", 0) in last.logs
    assert TopicPartition("v", 0) not in stage.broker.partitions.beginnings.preferred


@administered(directory_count=3)
async def test_another_directory_is_another_move(stage: Administered) -> None:
    partition = await filled(stage)
    await say(stage, OF_ALL_BROKERS, SLOW)
    home = stage.broker.directories.directory_of(partition.log)
    first, second = (it for it in stage.broker.directories.online if it is not home)
    quotas = stage.broker.replication_quotas
    quotas.log_dirs.record(10**6, quotas.now_ms())
    assert await alter(stage, first.path) is ErrorCode.NONE
    assert await alter(stage, second.path) is ErrorCode.NONE
    assert first.futures == {}
    assert partition.where in second.futures
    await say(stage, OF_ALL_BROKERS, {})
    await stage.until(lambda: partition.where in second.logs)
    assert len(values_of(partition.log)) == 100
