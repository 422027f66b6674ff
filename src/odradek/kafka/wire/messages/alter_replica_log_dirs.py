"""AlterReplicaLogDirs (key 34, versions 0-2, flexible from 2).

Move replicas between the log directories of one broker.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Int16, Int32, Message, String, Struct


class AlterReplicaLogDirTopic(Struct):
    name: String
    partitions: list[Int32]


class AlterReplicaLogDir(Struct):
    path: String
    topics: list[AlterReplicaLogDirTopic]


class AlterReplicaLogDirsRequest(Message, api_key=34, versions="0-2", flexible="2+"):
    dirs: list[AlterReplicaLogDir]


class AlterReplicaLogDirPartitionResult(Struct):
    partition_index: Int32
    error_code: Int16


class AlterReplicaLogDirTopicResult(Struct):
    topic_name: String
    partitions: list[AlterReplicaLogDirPartitionResult]


class AlterReplicaLogDirsResponse(Message, api_key=34, versions="0-2", flexible="2+"):
    throttle_time_ms: Int32
    results: list[AlterReplicaLogDirTopicResult]
