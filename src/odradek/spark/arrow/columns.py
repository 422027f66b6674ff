"""The columns of a topic, as Spark's own connector names and types them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import pyarrow as pa

from odradek.kafka.client.errors import TopicPartition

HEADER = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
TYPES: dict[str, pa.DataType] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestampType": pa.int32(),
    "headers": pa.list_(pa.field("element", HEADER)),
}
VARYING = ("key", "value", "offset", "timestamp", "headers")
WITHOUT_HEADERS = tuple(name for name in TYPES if name != "headers")
WITH_HEADERS = tuple(TYPES)
ROWS_KEPT = 65_536  # Batches of up to this many rows share their constant columns.


def assemble(
    partition: TopicPartition,
    timestamp_type: int,
    columns: Sequence[str],
    count: int,
    varying: Mapping[str, pa.Array],
) -> pa.RecordBatch:
    """An Arrow batch of the columns that differ between rows, and of those that do not."""
    constants: dict[str, str | int] = {
        "topic": partition.topic,
        "partition": partition.partition,
        "timestampType": timestamp_type,
    }
    arrays = [
        varying[name] if name in varying else constant(constants[name], TYPES[name], count)
        for name in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema_of(columns))


@lru_cache
def schema_of(columns: Sequence[str]) -> pa.Schema:
    """The Arrow schema of some columns, in their order."""
    return pa.schema([pa.field(name, TYPES[name]) for name in columns])


def constant(value: str | int, kind: pa.DataType, count: int) -> pa.Array:
    """A column of one value, made once for most batches."""
    if count <= ROWS_KEPT:
        return _kept(value, kind).slice(0, count)
    return pa.repeat(pa.scalar(value, kind), count)


@lru_cache(maxsize=64)
def _kept(value: str | int, kind: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), ROWS_KEPT)
