"""DeleteRecords (key 21, versions 0-2): raise the start offset of partitions.

-1 stands for the high watermark. The answer says the low watermark, below which no living replica
has anything; it waits until that has come as far as was asked for. Only topics whose policy is to
delete lose records this way.
"""

from __future__ import annotations

from dataclasses import dataclass

from odradek.kafka.admin.names import INTERNAL
from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.parked import Until
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.retention import raise_start_offset
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from odradek.runtime.disk import DiskFull

HIGH_WATERMARK = -1
NO_LOW_WATERMARK = -1


@dataclass(slots=True, eq=False)
class Deletion:
    """What became of one partition's records."""

    index: int
    error: ErrorCode = ErrorCode.NONE
    partition: Partition | None = None
    offset: int = 0

    @property
    def low_watermark(self) -> int:
        if self.error or self.partition is None or self.partition.leadership is None:
            return NO_LOW_WATERMARK
        return self.partition.low_watermark()

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be waited for."""
        if self.error or self.partition is None or self.partition.leadership is None:
            return True
        return self.low_watermark >= self.offset


async def delete_records(
    message: DeleteRecordsRequest, request: Request, broker: Broker
) -> DeleteRecordsResponse:
    deletions = [
        (topic.name, [delete(broker, topic.name, asked) for asked in topic.partitions])
        for topic in message.topics
    ]
    pending = [each for _, done in deletions for each in done if not each.is_settled]
    if pending:
        await replicate(broker, pending, message.timeout_ms)
    return DeleteRecordsResponse(
        throttle_time_ms=0,
        topics=[
            DeleteRecordsTopicResult(name=name, partitions=[*map(answer, done)])
            for name, done in deletions
        ],
    )


def delete(broker: Broker, topic: str, asked: DeleteRecordsPartition) -> Deletion:
    index = asked.partition_index
    if topic in INTERNAL:
        return Deletion(index, ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = broker.partitions.leader(topic, index)
    if isinstance(partition, ErrorCode):
        return Deletion(index, partition)
    log = partition.log
    if not log.settings.is_deleted:
        return Deletion(index, ErrorCode.POLICY_VIOLATION)
    offset = log.high_watermark if asked.offset == HIGH_WATERMARK else asked.offset
    try:
        refusal = raise_start_offset(log, offset)
    except DiskFull as error:
        broker.note.warning("%s: %s", partition.where, error)
        return Deletion(index, ErrorCode.KAFKA_STORAGE_ERROR)
    except DISK_TROUBLE as error:
        broker.partitions.disk_failed(partition, error)
        return Deletion(index, ErrorCode.KAFKA_STORAGE_ERROR)
    if refusal is not None:
        return Deletion(index, refusal.code)
    partition.tell_changed()  # Followers that rest must hear of it.
    return Deletion(index, ErrorCode.NONE, partition, offset)


async def replicate(broker: Broker, pending: list[Deletion], timeout_ms: int) -> None:
    """Wait until the followers have heard of it, and say how that ended."""
    partitions = [each.partition for each in pending if each.partition is not None]
    until_settled = Until(lambda: all(each.is_settled for each in pending))
    await broker.parked.wait(until_settled, partitions, timeout_ms)
    for each in pending:
        if each.partition is None or each.partition.leadership is None:
            each.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif not each.is_settled:
            each.error = ErrorCode.REQUEST_TIMED_OUT


def answer(each: Deletion) -> DeleteRecordsPartitionResult:
    return DeleteRecordsPartitionResult(
        partition_index=each.index, low_watermark=each.low_watermark, error_code=each.error
    )
