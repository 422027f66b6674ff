"""What one task of a replay does: archived rows, in the order of their offsets, into a topic.

The rows of a partition of the archive are one lane, and one task has them all. With its key a row
goes where the key says, so the order of a key is that of the archive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.wire.records import NO_TIMESTAMP, Record
from odradek.pipelines.lane_writer import LaneWriter
from odradek.pipelines.mirror_task import Copied, Stretch, Task
from odradek.pipelines.pieces import piece_of, size_of

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("topic", "partition", "offset", "key", "value", "headers", "time_us")
RESULT = "topic string, partition int, records bigint, bytes bigint, position bigint"
Row = tuple[str, int, int, bytes | None, bytes | None, list[dict[str, Any]] | None, int | None]
Stretches = Mapping[tuple[str, int], Stretch]


class Filling:
    """One lane while its rows come in."""

    def __init__(self, target: ProducerSettings, stretch: Stretch, keeps_partitions: bool) -> None:
        self._writer = LaneWriter(stretch.lane, target, stretch.known, first=stretch.first)
        self._stretch = stretch
        self._keeps_partitions = keeps_partitions
        self._partition_count = shared_cluster(target.client).partition_count(stretch.lane.target)
        self._bytes_max = target.batch_bytes_max
        self._gathered: dict[int, list[Record]] = {}
        self._sizes: dict[int, int] = {}
        self._records = self._bytes = 0

    def take(self, row: Row, per_transaction: int) -> None:
        _, _, offset, key, value, headers, time_us = row
        if offset < self._writer.position:
            return  # It is there already.
        time_ms = NO_TIMESTAMP if time_us is None else time_us // 1000
        named = tuple((one["key"], one["value"]) for one in headers or ())
        record = Record(offset, time_ms, key, value, named)
        partition = self._partition_of(key)
        self._gathered.setdefault(partition, []).append(record)
        self._sizes[partition] = self._sizes.get(partition, 0) + size_of(record)
        self._records += 1
        if self._sizes[partition] >= self._bytes_max:
            self._send(partition)
        if self._writer.count >= per_transaction:
            self._commit(offset + 1)

    def finish(self) -> Copied:
        self._commit(self._stretch.end)
        self._writer.abort()  # All is committed; an empty transaction may be left.
        return Copied(self._records, self._bytes, self._writer.position)

    def abort(self) -> None:
        self._writer.abort()

    def _partition_of(self, key: bytes | None) -> int:
        own = self._stretch.lane.source.partition
        if self._keeps_partitions:
            return own
        # Without a key the old partition is the only order that there is.
        return (
            own % self._partition_count if key is None else partition_of(key, self._partition_count)
        )

    def _send(self, partition: int) -> None:
        piece = piece_of(self._gathered.pop(partition))
        del self._sizes[partition]
        self._bytes += len(piece.records)
        self._writer.send(partition, piece)

    def _commit(self, position: int) -> None:
        for partition in sorted(self._gathered):
            self._send(partition)
        self._writer.commit(position)


def task(
    target: ProducerSettings, stretches: Stretches, keeps_partitions: bool, per_transaction: int
) -> Task:
    """What Spark runs, on rows that are sorted by topic, partition and offset."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filling: Filling | None = None
        lane: tuple[str, int] | None = None
        try:
            for row in rows_of(batches):
                if row[:2] != lane:
                    if filling is not None and lane is not None:
                        yield told(lane, filling.finish())
                    lane = row[:2]
                    filling = Filling(target, stretches[lane], keeps_partitions)
                assert filling is not None
                filling.take(row, per_transaction)
            if filling is not None and lane is not None:
                yield told(lane, filling.finish())
        except BaseException:
            if filling is not None:
                filling.abort()
            raise

    return run


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        columns = [batch.column(name).to_pylist() for name in COLUMNS]
        yield from zip(*columns, strict=True)


def told(lane: tuple[str, int], done: Copied) -> pa.RecordBatch:
    import pyarrow as pa

    kinds = [pa.string(), pa.int32(), pa.int64(), pa.int64(), pa.int64()]
    values = [*lane, done.records, done.bytes, done.position]
    arrays = [pa.array([value], kind) for value, kind in zip(values, kinds, strict=True)]
    return pa.RecordBatch.from_arrays(
        arrays, ["topic", "partition", "records", "bytes", "position"]
    )
