"""Cleaning a log here and now, as a broker would do it with the help of a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from odradek.kafka.storage.cleaner import Cleaning, begin_cleaning
from odradek.kafka.storage.cleaner_steps import CleanedGroup, Pace, Stopped, Uncleanable
from odradek.kafka.storage.dirty import Dirty, measure
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.removal import remove_files
from odradek.kafka.storage.swap import Seal, end_cleaning, swap_in
from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record
from tests.kafka.storage.logs import NOW_MS, SMALL, all_records, get

COMPACTED = replace(SMALL, is_compacted=True, is_deleted=False, min_cleanable_dirty_ratio=0.0)
Outcome = Seal | Stopped | Uncleanable
Pair = tuple[bytes | None, bytes | None]


def keyed(
    pairs: Sequence[Pair],
    *,
    timestamp: int = NOW_MS,
    codec: Codec = Codec.NONE,
    producer_id: int = -1,
    producer_epoch: int = 0,
    sequence: int = 0,
    is_transactional: bool = False,
) -> bytes:
    """What a producer sends: records with keys, a millisecond apart."""
    envelope = Envelope(
        codec=codec,
        producer_id=producer_id,
        producer_epoch=producer_epoch if producer_id >= 0 else -1,
        base_sequence=sequence if producer_id >= 0 else -1,
        is_transactional=is_transactional,
    )
    records = [Record(n, timestamp + n, key, value) for n, (key, value) in enumerate(pairs)]
    return bytes(write_batch(records, envelope))


def dirt(log: Log, cleaned_offset: int | None = None, now_ms: int = NOW_MS) -> Dirty:
    dirty = measure(log, cleaned_offset, now_ms)
    assert dirty is not None
    return dirty


def begin(log: Log, cleaned_offset: int | None = None, now_ms: int = NOW_MS) -> Cleaning:
    return begin_cleaning(log, dirt(log, cleaned_offset, now_ms), now_ms)


def finish(log: Log, cleaning: Cleaning, pace: Pace | None = None) -> Outcome:
    """Run it, swapping in what it gives."""
    for step in cleaning.run(log.files.disk, pace):
        if isinstance(step, CleanedGroup):
            if (retired := swap_in(log, cleaning, step)) is not None:
                remove_files(log.files.disk, retired)
        else:
            outcome = end_cleaning(log, cleaning, step)
            if isinstance(outcome, Seal):
                outcome.run()
            return outcome
    raise AssertionError("a cleaning says how it ended")


def clean(log: Log, cleaned_offset: int | None = None, now_ms: int = NOW_MS) -> int:
    """Clean all that may be, and return up to where it is clean."""
    log.raise_high_watermark(log.end_offset)
    if measure(log, cleaned_offset, now_ms) is None:
        return cleaned_offset or 0
    outcome = finish(log, begin(log, cleaned_offset, now_ms))
    assert isinstance(outcome, Seal), outcome
    return outcome.end_offset


def kept(log: Log) -> dict[int, Pair]:
    return {record.offset: (record.key, record.value) for record in all_records(log)}


def all_batches(log: Log) -> list[Batch]:
    batches: list[Batch] = []
    offset = log.start_offset
    while offset < log.end_offset and (fetched := get(log, offset)).data:
        batches += read_batches(memoryview(fetched.data))
        offset = fetched.next_offset
    return batches
