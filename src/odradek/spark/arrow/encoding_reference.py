"""Rows into records the plain way: the rule that the fast way is held against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.wire.varint import VARINTS
from odradek.spark.arrow.encoding_program import STICKY_OVERHEAD_BYTES
from odradek.spark.arrow.rows import Destination, Encoded, Rows, wrong_partition

_NULL = VARINTS[-1]


def encode_plainly(
    rows: Rows, destinations: Sequence[Destination], bytes_max: int
) -> Iterator[Encoded]:
    """The rows as records, by partition, each in as many batches as it takes."""
    grouped: dict[TopicPartition, list[int]] = {
        TopicPartition(one.topic, partition): []
        for one in destinations
        for partition in range(one.partition_count)
    }
    columns = {
        name: _cells(getattr(rows, name), rows.count)
        for name in ("key", "value", "headers", "partition", "topic")
    }
    for row in range(rows.count):
        one = destinations[columns["topic"][row] or 0]
        cells = {name: column[row] for name, column in columns.items()}
        chosen = _choose(cells, one, bytes_max)
        if not 0 <= chosen < one.partition_count:
            raise wrong_partition(rows, row, destinations)
        grouped[TopicPartition(one.topic, chosen)].append(row)
    for partition, numbers in grouped.items():
        yield from _batches(partition, numbers, columns, bytes_max)


def _cells(column: pa.Array | None, count: int) -> list[Any]:
    if column is None:
        return [None] * count
    cells: list[Any] = column.to_pylist()
    return [cell.encode() if isinstance(cell, str) else cell for cell in cells]


def _choose(cells: dict[str, Any], one: Destination, bytes_max: int) -> int:
    if cells["partition"] is not None:
        chosen: int = cells["partition"]
        return chosen
    if cells["key"] is not None:
        return partition_of(cells["key"], one.partition_count)
    return one.sticky.take(STICKY_OVERHEAD_BYTES + len(cells["value"] or b""), bytes_max)


def _batches(
    partition: TopicPartition, rows: list[int], columns: dict[str, list[Any]], bytes_max: int
) -> Iterator[Encoded]:
    out, count = bytearray(), 0
    for row in rows:
        record = _record(count, row, columns)
        if count and len(out) + len(record) > bytes_max:
            yield Encoded(partition, count, bytes(out))
            out, count = bytearray(), 0
            record = _record(count, row, columns)
        out += record
        count += 1
    if count:
        yield Encoded(partition, count, bytes(out))


def _record(delta: int, row: int, columns: dict[str, list[Any]]) -> bytes:
    body = b"\0\0%b%b%b%b" % (
        VARINTS[delta],
        _octets(columns["key"][row]),
        _octets(columns["value"][row]),
        _headers(columns["headers"][row] or []),
    )
    return VARINTS[len(body)] + body


def _octets(cell: bytes | None) -> bytes:
    return _NULL if cell is None else VARINTS[len(cell)] + cell


def _headers(headers: list[dict[str, Any]]) -> bytes:
    written = [_octets(one["key"].encode()) + _octets(one["value"]) for one in headers]
    return VARINTS[len(headers)] + b"".join(written)
