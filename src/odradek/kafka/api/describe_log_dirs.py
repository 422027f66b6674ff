"""DescribeLogDirs (key 35, versions 0-4): the log directories of this broker, and what is in them.

A log's lag is how far it is behind the high watermark, a future log's how far behind the one that
it will replace; -1 where no such partition is here. v4 adds the room on the device.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable

from odradek.kafka.broker.broker import Broker
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

NO_LAG = -1
SLICE = 64  # Logs a turn: their sizes may have to be asked of the disk.


async def describe_log_dirs(
    message: DescribeLogDirsRequest, request: Request, broker: Broker
) -> DescribeLogDirsResponse:
    wanted = None
    if message.topics is not None:
        wanted = {
            TopicPartition(it.topic, index) for it in message.topics for index in it.partitions
        }
    results = [await describe(it, wanted, broker) for it in list(broker.directories.online)]
    results += [offline(path) for path in broker.directories.offline]
    return DescribeLogDirsResponse(throttle_time_ms=0, error_code=ErrorCode.NONE, results=results)


async def describe(
    directory: LogDirectory, wanted: Container[TopicPartition] | None, broker: Broker
) -> DescribeLogDirsResult:
    try:
        topics = await describe_topics(directory, wanted, broker)
        disk = directory.files.disk
        total, usable = disk.total_bytes(directory.path), disk.free_bytes(directory.path)
    except DISK_TROUBLE as error:
        broker.note.warning("%s cannot be described: %s", directory.path, error)
        return offline(directory.path)
    return DescribeLogDirsResult(
        error_code=ErrorCode.NONE,
        log_dir=directory.path,
        topics=topics,
        total_bytes=total,
        usable_bytes=usable,
    )


def offline(path: str) -> DescribeLogDirsResult:
    return DescribeLogDirsResult(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir=path, topics=[])


async def describe_topics(
    directory: LogDirectory, wanted: Container[TopicPartition] | None, broker: Broker
) -> list[DescribeLogDirsTopic]:
    by_topic: dict[str, list[DescribeLogDirsPartition]] = {}
    logs = [(log, False) for log in chosen(directory.logs.values(), wanted)]
    logs += [(log, True) for log in chosen(directory.futures.values(), wanted)]
    for number, (log, is_future) in enumerate(logs, 1):
        described = by_topic.setdefault(log.where.topic, [])
        described.append(describe_log(log, broker, is_future=is_future))
        if number % SLICE == 0:
            await asyncio.sleep(0)
    return [DescribeLogDirsTopic(name=name, partitions=them) for name, them in by_topic.items()]


def chosen(logs: Iterable[Log], wanted: Container[TopicPartition] | None) -> list[Log]:
    return [log for log in logs if wanted is None or log.where in wanted]


def describe_log(log: Log, broker: Broker, *, is_future: bool) -> DescribeLogDirsPartition:
    return DescribeLogDirsPartition(
        partition_index=log.where.partition,
        partition_size=log.size(),
        offset_lag=lag(log, broker, is_future=is_future),
        is_future_key=is_future,
    )


def lag(log: Log, broker: Broker, *, is_future: bool) -> int:
    partition = broker.partitions.get(*log.where)
    if partition is None:
        return NO_LAG
    if is_future:
        return partition.log.end_offset - log.end_offset
    return max(partition.log.high_watermark - log.end_offset, 0)
