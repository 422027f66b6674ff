"""AlterReplicaLogDirs (key 34, versions 0-2): have replicas move to other directories (KIP-113).

The answer comes when a move has begun; DescribeLogDirs tells how far it is. A replica that is not
here yet will begin in the directory that is named, and the answer is REPLICA_NOT_AVAILABLE.
"""

from __future__ import annotations

from odradek.kafka.broker.broker import Broker
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.connection import Request
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


async def alter_replica_log_dirs(
    message: AlterReplicaLogDirsRequest, request: Request, broker: Broker
) -> AlterReplicaLogDirsResponse:
    wanted = {
        TopicPartition(topic.name, index): directory.path
        for directory in message.dirs
        for topic in directory.topics
        for index in topic.partitions
    }
    results: dict[str, AlterReplicaLogDirTopicResult] = {}
    for where, path in wanted.items():
        error = await broker.moves.alter(where, path)
        if error is not ErrorCode.NONE:
            broker.note.warning("%s does not move to %s: %s", where, path, error.name)
        topic = results.setdefault(
            where.topic, AlterReplicaLogDirTopicResult(topic_name=where.topic, partitions=[])
        )
        topic.partitions.append(
            AlterReplicaLogDirPartitionResult(partition_index=where.partition, error_code=error)
        )
    return AlterReplicaLogDirsResponse(throttle_time_ms=0, results=list(results.values()))
