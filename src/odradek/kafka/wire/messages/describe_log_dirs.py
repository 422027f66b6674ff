"""DescribeLogDirs (key 35, versions 0-4, flexible from 2).

Log directories of a broker, and the size of each replica in them.
"""

from __future__ import annotations

from odradek.kafka.wire.schema import Bool, Int16, Int32, Int64, Message, String, Struct, field


class DescribableLogDirTopic(Struct):
    topic: String
    partitions: list[Int32]


class DescribeLogDirsRequest(Message, api_key=35, versions="0-4", flexible="2+"):
    topics: list[DescribableLogDirTopic] | None


class DescribeLogDirsPartition(Struct):
    partition_index: Int32
    partition_size: Int64
    offset_lag: Int64
    is_future_key: Bool


class DescribeLogDirsTopic(Struct):
    name: String
    partitions: list[DescribeLogDirsPartition]


class DescribeLogDirsResult(Struct):
    error_code: Int16
    log_dir: String
    topics: list[DescribeLogDirsTopic]
    total_bytes: Int64 = field("4+", default=-1, ignorable=True)
    usable_bytes: Int64 = field("4+", default=-1, ignorable=True)


class DescribeLogDirsResponse(Message, api_key=35, versions="0-4", flexible="2+"):
    throttle_time_ms: Int32
    error_code: Int16 = field("3+", ignorable=True)
    results: list[DescribeLogDirsResult]
