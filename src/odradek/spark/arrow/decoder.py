"""What was fetched, as Arrow batches with the columns that were asked for.

The fast way is a program for a small machine (`program`, `machine`); where that is not to be had,
or refuses a batch, the plain way (`reference`) has the last word: it says what is wrong, and which
offset it is wrong at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetched
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.runtime.errors import ProtocolError
from odradek.spark.arrow.columns import assemble
from odradek.spark.arrow.errors import UnreadableBatch
from odradek.spark.arrow.reference import reference_batch
from odradek.spark.arrow.selection import Run, select

if TYPE_CHECKING:
    from odradek.spark.arrow.machine import Machine

# So many become an Arrow batch: what is made of it here, on its way and in Spark's JVM should still
# be in a processor's cache when it is looked at next.
RUN_BYTES = 1024 * 1024


@cache
def find_machine() -> Machine | None:
    """The machine of this process, or None where there can be none."""
    try:
        from odradek.spark.arrow.machine import machine
    except ImportError:
        return None
    return machine()


def lend_room(size: int) -> memoryview | None:
    """Room where what is fetched is decoded without another copy; good until it is asked again."""
    machine = find_machine()
    return None if machine is None else machine.lend_room(size)


def decode(
    fetched: Fetched, end: int, columns: Sequence[str], *, check_crcs: bool = True
) -> Iterator[pa.RecordBatch]:
    """The records in [fetched.start, end) as Arrow batches, each good until the next."""
    for run in select(fetched, end, check_crcs=check_crcs):
        for part in _cut(run):
            batch = decode_run(fetched.partition, part, fetched.start, end, columns)
            if batch.num_rows:
                yield batch


def decode_run(
    partition: TopicPartition, run: Run, low: int, high: int, columns: Sequence[str]
) -> pa.RecordBatch:
    """One run, by the machine if that can be."""
    machine = None if run.is_legacy else find_machine()
    if machine is None:
        return reference_batch(partition, run, low, high, columns)
    try:
        return machine_batch(machine, partition, run, low, high, columns)
    except (ProtocolError, pa.ArrowInvalid) as error:
        return _second_opinion(partition, run, low, high, columns, error)


def machine_batch(
    machine: Machine,
    partition: TopicPartition,
    run: Run,
    low: int,
    high: int,
    columns: Sequence[str],
) -> pa.RecordBatch:
    """One run of batches by the machine, which may refuse it."""
    rows, varying = machine.decode(run.batches, low, high, columns)
    return assemble(partition, run.timestamp_type, columns, rows, varying)


def _second_opinion(
    partition: TopicPartition,
    run: Run,
    low: int,
    high: int,
    columns: Sequence[str],
    error: Exception,
) -> pa.RecordBatch:
    """The reference's word on what the machine refused.

    Odd UTF-8, or too much at once, is no reason to refuse anything.
    """
    batch = reference_batch(partition, run, low, high, columns)
    if isinstance(error, InvalidRecord):
        raise UnreadableBatch(*partition, run.batches[0].base_offset, error) from error
    return batch


def _cut(run: Run) -> Iterator[Run]:
    """The run in parts that become Arrow batches of a reasonable size."""
    part, size = Run(run.timestamp_type, run.is_legacy, messages=run.messages), 0
    for batch in run.batches:
        if part.batches and size + len(batch.data) > RUN_BYTES:
            yield part
            part, size = Run(run.timestamp_type, run.is_legacy), 0
        part.batches.append(batch)
        size += len(batch.data)
    yield part
