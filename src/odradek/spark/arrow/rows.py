"""Rows on their way into a topic: their columns, checked, and what becomes of them.

All rows of a batch are made at one time, so no column holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.partitioner import StickyPartition
from odradek.runtime.errors import OdradekError
from odradek.spark.arrow.columns import TYPES


class UnwritableRow(OdradekError):
    """A row that no topic can take."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The columns of some rows; None: all is null."""

    count: int
    key: pa.Array | None
    value: pa.Array | None
    headers: pa.Array | None
    partition: pa.Array | None
    topic: pa.Array | None  # The number of a topic in a list of names.


@dataclass(frozen=True, slots=True)
class Destination:
    """A topic that rows go to."""

    topic: str
    sticky: StickyPartition

    @property
    def partition_count(self) -> int:
        return self.sticky.partition_count


@dataclass(frozen=True, slots=True)
class Encoded:
    """Records of one partition: a batch without its header."""

    partition: TopicPartition
    count: int
    records: bytes


def rows_of(batch: pa.RecordBatch, topic: str | None) -> tuple[Rows, list[str]]:
    """The rows of an Arrow batch, and the names of their topics: the option's, or the column's."""
    named = {
        name: batch.column(name)
        for name in ("key", "value", "headers", "partition", "topic")
        if name in batch.schema.names
    }
    names, numbers = [topic] if topic is not None else [], None
    if topic is None:
        names, numbers = _topics(named["topic"])
    rows = Rows(
        batch.num_rows,
        _octets(named.get("key")),
        _octets(named.get("value")),
        _headers(named.get("headers")),
        named.get("partition"),
        numbers,
    )
    return rows, [str(name) for name in names]


def _topics(column: pa.Array) -> tuple[list[str], pa.Array]:
    if column.null_count:
        raise UnwritableRow("a topic is null, and the option topic does not name one")
    encoded = column.dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.cast(pa.int32())


def _octets(column: pa.Array | None) -> pa.Array | None:
    if column is None or pa.types.is_null(column.type):
        return None
    is_plain = pa.types.is_binary(column.type) or pa.types.is_string(column.type)
    return column if is_plain else column.cast(pa.binary())


def _headers(column: pa.Array | None) -> pa.Array | None:
    """The headers, if each has a name."""
    if column is None:
        return None
    if column.type != TYPES["headers"]:
        column = column.cast(TYPES["headers"])
    given = column.flatten()
    if given.null_count or given.field(0).null_count:
        raise UnwritableRow("a header without a name")
    return column


def wrong_partition(rows: Rows, row: int, destinations: Sequence[Destination]) -> UnwritableRow:
    """What is wrong with a row whose partition column names none that there is."""
    assert rows.partition is not None
    number = 0 if rows.topic is None else rows.topic[row].as_py()
    topic, count = destinations[number].topic, destinations[number].partition_count
    there = f"has partitions 0 to {count - 1}"
    return UnwritableRow(f"partition {rows.partition[row].as_py()}: {topic} {there}")
