"""Records into columns the plain way: the rule that the fast way is held against.

It is also the way for message sets of old, and for whoever has no WebAssembly at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.batch import ENTRY_START
from odradek.kafka.wire.message_set import read_message, unwrap
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.errors import ProtocolError
from odradek.spark.arrow.columns import TYPES, VARYING, assemble
from odradek.spark.arrow.errors import UnreadableBatch
from odradek.spark.arrow.program import TIMESTAMP_MS_MAX
from odradek.spark.arrow.selection import Run


def reference_batch(
    partition: TopicPartition, run: Run, low: int, high: int, columns: Sequence[str]
) -> pa.RecordBatch:
    """The records of a run whose offsets are in [low, high)."""
    records = [r for r in _records(partition, run) if low <= r.offset < high]
    for record in records:
        if abs(record.timestamp) > TIMESTAMP_MS_MAX:
            reason = f"a timestamp of {record.timestamp} ms"
            raise UnreadableBatch(*partition, record.offset, reason)
    varying = {
        name: pa.array([_cell(record, name) for record in records], TYPES[name])
        for name in columns
        if name in VARYING
    }
    return assemble(partition, run.timestamp_type, columns, len(records), varying)


def _cell(record: Record, column: str) -> Any:
    match column:
        case "timestamp":
            return record.timestamp * 1000
        case "headers":
            # Java reads broken UTF-8 with marks in its place, and no headers as null.
            return [{"key": _text(key), "value": value} for key, value in record.headers] or None
        case _:
            return getattr(record, column)


def _text(key: str) -> str:
    return key.encode(errors="surrogateescape").decode(errors="replace")


def _records(partition: TopicPartition, run: Run) -> Iterator[Record]:
    for batch in run.batches:
        try:
            # All of a batch is read before any of it counts.
            records = list(read_records(batch))
        except ProtocolError as error:
            raise UnreadableBatch(*partition, batch.base_offset, error) from error
        yield from records
    for entry in run.messages:
        try:
            records = list(unwrap(read_message(entry)))
        except ProtocolError as error:
            offset, _ = ENTRY_START.unpack_from(entry)
            raise UnreadableBatch(*partition, offset, error) from error
        yield from records
