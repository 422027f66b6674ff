"""Batch queries: all there is between two limits, cut into tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.ranges import OffsetRange
from odradek.runtime.errors import OdradekError
from odradek.spark.filters import Narrowing, narrow
from odradek.spark.options import SourceOptions
from odradek.spark.planning import group_ranges, split_ranges

if TYPE_CHECKING:
    import pyarrow as pa


class StartAfterEnd(OdradekError):
    """A read that would have to go backwards."""


class RangesPartition(InputPartition):
    """The ranges that one task reads."""

    def __init__(self, ranges: Sequence[OffsetRange]) -> None:
        super().__init__([(*one.partition, one.start, one.end) for one in ranges])

    @property
    def ranges(self) -> list[OffsetRange]:
        return [
            OffsetRange(TopicPartition(topic, partition), start, end)
            for topic, partition, start, end in self.value
        ]


def plan(options: SourceOptions, ranges: Iterable[OffsetRange]) -> list[InputPartition]:
    """The tasks that read these ranges."""
    parts = split_ranges(ranges, options.partitions_min, options.records_per_partition_max)
    groups = group_ranges(parts, options.records_per_partition_min)
    return [RangesPartition(group) for group in groups]


def read_partition(
    options: SourceOptions, partition: InputPartition, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of one task; a query with nothing to read has one task that reads nothing."""
    from odradek.spark.task import read_ranges  # Arrow is for the executors alone.
    from odradek.spark.workers import begin_task

    begin_task()
    if isinstance(partition, RangesPartition):
        yield from read_ranges(options, partition.ranges, columns)


class BatchReader(DataSourceReader):
    """Reads from one limit to the other."""

    def __init__(self, options: SourceOptions, columns: Sequence[str]) -> None:
        self._options = options
        self._columns = tuple(columns)
        self._narrowing = Narrowing()

    def partitions(self) -> list[InputPartition]:
        return plan(self._options, self._ranges())

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_partition(self._options, partition, self._columns)

    def _ranges(self) -> list[OffsetRange]:
        from odradek.kafka.client.cluster import shared_cluster
        from odradek.kafka.client.offsets import list_offsets
        from odradek.spark.resolving import Resolver

        cluster = shared_cluster(self._options.client)
        resolver = Resolver(cluster, self._options)
        partitions = resolver.partitions()
        start, end = resolver.start(partitions), resolver.end(partitions)
        ranges = [range_of(p, start[p], end[p]) for p in partitions if self._narrowing.keeps(p)]
        if self._narrowing.time_ms_min is None:
            return [self._narrowing.cut(one, None) for one in ranges]
        time_ms = self._narrowing.time_ms_min
        found = list_offsets(cluster, {one.partition: time_ms for one in ranges})
        first = {p: end[p] if offset is None else offset for p, offset in found.items()}
        return [self._narrowing.cut(one, first[one.partition]) for one in ranges]


class FilteringBatchReader(BatchReader):
    """The same, for a Spark that pushes filters down."""

    def pushFilters(self, filters: list[Any]) -> Iterable[Any]:  # noqa: N802
        self._narrowing, left = narrow(filters)
        return left


def range_of(partition: TopicPartition, start: int, end: int) -> OffsetRange:
    if start > end:
        raise StartAfterEnd(f"{partition} is to be read from offset {start} to {end}")
    return OffsetRange(partition, start, end)
