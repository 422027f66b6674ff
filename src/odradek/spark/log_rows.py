"""Entries of a segment as Arrow batches: the columns of a topic, and what its batches say.

All that is in the log is a row: aborted records too, and the markers of transactions. What a batch
says is the same for each of its rows, so those columns are made by runs and not by rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

import pyarrow as pa
from pyarrow import compute

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.batch import MAGIC_POSITION, Batch
from odradek.kafka.wire.message_set import read_message
from odradek.spark.arrow.columns import TYPES
from odradek.spark.arrow.decoder import decode_run
from odradek.spark.arrow.selection import Found, Run, gather, timestamp_type

OFFSET_MIN, OFFSET_MAX = -(2**63), 2**63 - 1
SEQUENCE_MASK = 0x7FFFFFFF
Cell = Callable[[Batch], int | str | bool | None]
# What a batch of magic 2 says; older messages say nothing of the kind.
BATCH_COLUMNS: dict[str, tuple[pa.DataType, Cell]] = {
    "producerId": (pa.int64(), lambda batch: None if batch.producer_id < 0 else batch.producer_id),
    "producerEpoch": (
        pa.int32(),
        lambda batch: None if batch.producer_id < 0 else batch.producer_epoch,
    ),
    "isTransactional": (pa.bool_(), lambda batch: batch.is_transactional),
    "isControl": (pa.bool_(), lambda batch: batch.is_control),
    "baseOffset": (pa.int64(), lambda batch: batch.base_offset),
    "baseSequence": (
        pa.int32(),
        lambda batch: None if batch.base_sequence < 0 else batch.base_sequence,
    ),
    "leaderEpoch": (pa.int32(), lambda batch: batch.leader_epoch),
    "codec": (pa.string(), lambda batch: batch.codec.name.lower()),
    "batchBytes": (pa.int32(), lambda batch: len(batch.data)),
}
SEQUENCE = "sequence"
LOG_TYPES: dict[str, pa.DataType] = {
    **TYPES,
    **{name: kind for name, (kind, _) in BATCH_COLUMNS.items()},
    SEQUENCE: pa.int32(),
}


def rows_of_entries(
    partition: TopicPartition, entries: Sequence[memoryview], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Arrow batches of the columns that were asked for, each good until the next."""
    read = tuple(name for name in (*TYPES,) if name in columns or name == "offset")
    schema = pa.schema([pa.field(name, LOG_TYPES[name]) for name in columns])
    for run in runs_of(entries):
        decoded = decode_run(partition, run, OFFSET_MIN, OFFSET_MAX, read)
        more = {} if run.is_legacy else _batch_columns(run.batches, decoded, columns)
        arrays = [
            decoded.column(name)
            if name in read
            else more.get(name, pa.nulls(decoded.num_rows, LOG_TYPES[name]))
            for name in columns
        ]
        if decoded.num_rows:
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def runs_of(entries: Sequence[memoryview]) -> Iterator[Run]:
    """Neighbours of one kind together; a batch without records has nothing to show."""
    return gather(filter(None, map(_found, entries)))


def _found(entry: memoryview) -> Found | None:
    """An entry with the type of its timestamps."""
    if entry[MAGIC_POSITION] == 2:
        batch = Batch(entry)
        return (timestamp_type(batch), batch) if batch.record_count else None
    return timestamp_type(read_message(entry)), entry


def _batch_columns(
    batches: Sequence[Batch], decoded: pa.RecordBatch, columns: Sequence[str]
) -> dict[str, pa.Array]:
    ends = pa.array(accumulate(batch.record_count for batch in batches), pa.int32())
    found = {name: _repeated(name, batches, ends) for name in BATCH_COLUMNS if name in columns}
    if SEQUENCE in columns:
        # The number of a record is that of its batch and the distance of the offsets.
        delta = compute.subtract(decoded.column("offset"), _repeated("baseOffset", batches, ends))
        first = _repeated("baseSequence", batches, ends).cast(pa.int64())
        numbers = compute.bit_wise_and(compute.add(first, delta), SEQUENCE_MASK)
        found[SEQUENCE] = numbers.cast(pa.int32())
    return found


def _repeated(name: str, batches: Sequence[Batch], ends: pa.Array) -> pa.Array:
    kind, cell = BATCH_COLUMNS[name]
    values = pa.array([cell(batch) for batch in batches], kind)
    if not len(values):
        return values
    return compute.run_end_decode(pa.RunEndEncodedArray.from_arrays(ends, values))
