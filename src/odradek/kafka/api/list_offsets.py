"""ListOffsets (key 2, versions 0-9): offsets by time.

-1  the end that the reader may see: high watermark, last stable offset, or for a follower all
-2  the start                  -3  the first record with the largest timestamp (v7)
-4  the start on this broker (v8), the same     -5  what was moved to tiered storage (v9): nothing

Any other below 0 is refused. The rest are times: the first record that is not older. No such
record: offset -1, and no error.
v0 knows whole segments alone, and answers with a list.
"""

from __future__ import annotations

import asyncio

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import TimedOffset
from odradek.kafka.storage.reading import Later, offset_since, youngest
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

LATEST, EARLIEST, LARGEST_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5
FIRST_VERSIONS = {
    LATEST: 0,
    EARLIEST: 0,
    LARGEST_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
}
FIRST_WITH_EPOCHS = 4
FIRST_WITH_OFFSET_NOT_AVAILABLE = 5
CONSUMER, DEBUGGER = -1, -2
READ_COMMITTED = 1
NO_TIME = NO_OFFSET = NO_EPOCH = -1
TRIES = 3


async def list_offsets(
    message: ListOffsetsRequest, request: Request, broker: Broker
) -> ListOffsetsResponse:
    repeated = repetitions(message)
    topics = []
    for topic in message.topics:
        partitions = []
        for asked in topic.partitions:
            if (topic.name, asked.partition_index) in repeated:
                partitions.append(failure(asked, ErrorCode.INVALID_REQUEST))
            else:
                partitions.append(await answer(message, request, broker, topic.name, asked))
        topics.append(ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
    return ListOffsetsResponse(topics=topics)


def repetitions(message: ListOffsetsRequest) -> set[tuple[str, int]]:
    """The partitions that are named more than once: nobody could tell their answers apart."""
    seen: set[tuple[str, int]] = set()
    repeated: set[tuple[str, int]] = set()
    for topic in message.topics:
        for asked in topic.partitions:
            place = topic.name, asked.partition_index
            (repeated if place in seen else seen).add(place)
    return repeated


async def answer(
    message: ListOffsetsRequest,
    request: Request,
    broker: Broker,
    topic: str,
    asked: ListOffsetsPartition,
) -> ListOffsetsPartitionResponse:
    if asked.timestamp < 0 and not is_known(asked.timestamp, request.version):
        return failure(asked, ErrorCode.UNSUPPORTED_VERSION)
    partition = broker.partitions.leader(topic, asked.partition_index, asked.current_leader_epoch)
    if isinstance(partition, ErrorCode):
        return failure(asked, partition)
    try:
        if request.version == 0:
            return old_style(message, broker, partition, asked)
        found = await find(message, broker, partition, asked.timestamp)
    except DISK_TROUBLE as error:
        broker.partitions.disk_failed(partition, error)
        return failure(asked, ErrorCode.KAFKA_STORAGE_ERROR)
    if isinstance(found, ErrorCode):
        is_old = request.version < FIRST_WITH_OFFSET_NOT_AVAILABLE
        return failure(asked, ErrorCode.LEADER_NOT_AVAILABLE if is_old else found)
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index,
        error_code=0,
        timestamp=found.timestamp,
        offset=found.offset,
        leader_epoch=found.leader_epoch if request.version >= FIRST_WITH_EPOCHS else NO_EPOCH,
    )


def is_known(special: int, version: int) -> bool:
    first_version = FIRST_VERSIONS.get(special)
    return first_version is not None and version >= first_version


async def find(
    message: ListOffsetsRequest, broker: Broker, partition: Partition, timestamp: int
) -> TimedOffset | ErrorCode:
    """The offset that a time stands for."""
    log = partition.log
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        return TimedOffset(log.start_offset, NO_TIME, epoch_of_start(partition))
    if timestamp == LATEST_TIERED:
        return TimedOffset(NO_OFFSET, NO_TIME, NO_EPOCH)
    upper_offset = last_visible(message, log)
    is_lagging = message.replica_id == CONSUMER and is_behind_its_epoch(partition)
    if timestamp == LATEST:
        if is_lagging:
            return ErrorCode.OFFSET_NOT_AVAILABLE
        return TimedOffset(upper_offset, NO_TIME, partition.leader_epoch)
    found = await search(partition, timestamp)
    if found is not None and found.offset < upper_offset:
        return found
    # It may come to be seen: whoever asks now must not take it for absent.
    if found is not None and is_lagging:
        return ErrorCode.OFFSET_NOT_AVAILABLE
    return TimedOffset(NO_OFFSET, NO_TIME, NO_EPOCH)


def epoch_of_start(partition: Partition) -> int:
    """The epoch that the log starts in: the leader's own, if nothing older is left."""
    log, leadership = partition.log, partition.leadership
    if leadership is not None and log.start_offset >= leadership.start_offset:
        return partition.leader_epoch
    return log.epochs.epoch_at(log.start_offset)


def last_visible(message: ListOffsetsRequest, log: Log) -> int:
    if message.replica_id != CONSUMER:
        return log.end_offset
    is_committed = message.isolation_level == READ_COMMITTED
    return log.last_stable_offset if is_committed else log.high_watermark


def is_behind_its_epoch(partition: Partition) -> bool:
    """Whether a new leader has yet to learn what is committed of what it took over."""
    leadership = partition.leadership
    return leadership is not None and leadership.start_offset > partition.log.high_watermark


async def search(partition: Partition, timestamp: int) -> TimedOffset | None:
    """Look for a time, in another thread if need be."""
    for _ in range(TRIES):
        log = partition.log
        found = youngest(log) if timestamp == LARGEST_TIMESTAMP else offset_since(log, timestamp)
        if not isinstance(found, Later):
            return found
        try:
            result = await asyncio.get_running_loop().run_in_executor(None, found.run)
        except FileNotFoundError:
            continue  # Retention was here meanwhile.
        if not found.is_outdated:
            return result
    return None


def old_style(
    message: ListOffsetsRequest, broker: Broker, partition: Partition, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    """The starts of segments that are not younger than a time, the latest first (v0)."""
    log, disk = partition.log, partition.log.files.disk
    times = [
        (max(each.base_offset, log.start_offset), disk.modified_ms(each.path))
        for each in log.segments
    ]
    if log.end_offset > log.segments[-1].base_offset:
        times.append((log.end_offset, broker.clock()))
    if asked.timestamp == EARLIEST:
        times = times[:1]
    elif asked.timestamp != LATEST:
        times = [each for each in times if each[1] <= asked.timestamp]
    offsets = sorted((offset for offset, _ in times), reverse=True)
    offsets = offsets[: max(0, asked.max_num_offsets)]
    if message.replica_id == CONSUMER and offsets and offsets[0] > log.high_watermark:
        seen = [offset for offset in offsets if offset <= log.high_watermark]
        offsets = [log.high_watermark, *seen]
    return ListOffsetsPartitionResponse(
        partition_index=asked.partition_index, error_code=0, old_style_offsets=offsets
    )


def failure(asked: ListOffsetsPartition, error: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=error)
