"""Batches of one log as they go into another: records as they are, with their times.

A whole batch without gaps is taken as it is, its records unopened. What was cleaned, cut by the
range, stamped on append, is of an old format or unpacks to more than a batch should have is opened
and written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from odradek.kafka.client.fetcher import Fetched
from odradek.kafka.wire.batch import HEADER_BYTES, Batch
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.compression import decompress
from odradek.kafka.wire.message_set import read_message, unwrap
from odradek.kafka.wire.records import Record, read_records
from odradek.pipelines.lane_writer import Piece
from odradek.spark.arrow.selection import select


def pieces_of(fetched: Fetched, end: int, bytes_max: int) -> Iterator[Piece]:
    """What is in [fetched.start, end) of a fetch, without markers and what was aborted."""
    for run in select(fetched, end):
        for batch in run.batches:
            yield from pieces_of_batch(batch, fetched.start, end, bytes_max)
        for message in run.messages:
            records = unwrap(read_message(message))
            yield from rewritten(within(records, fetched.start, end), bytes_max)


def pieces_of_batch(batch: Batch, start: int, end: int, bytes_max: int) -> Iterator[Piece]:
    if is_taken_whole(batch, start, end):
        piece = whole(batch)
        if len(piece.records) <= bytes_max or piece.count == 1:
            yield piece
            return
    yield from rewritten(within(read_records(batch), start, end), bytes_max)


def is_taken_whole(batch: Batch, start: int, end: int) -> bool:
    is_inside = start <= batch.base_offset and batch.last_offset < end
    has_gaps = batch.record_count != batch.last_offset_delta + 1
    is_stamped = batch.is_append_time or batch.delete_horizon_ms is not None
    return is_inside and not has_gaps and not is_stamped


def whole(batch: Batch) -> Piece:
    data = decompress(batch.codec, batch.records)
    return Piece(bytes(data), batch.record_count, batch.base_timestamp, batch.max_timestamp)


def within(records: Iterable[Record], start: int, end: int) -> Iterator[Record]:
    return (record for record in records if start <= record.offset < end)


def rewritten(records: Iterable[Record], bytes_max: int) -> Iterator[Piece]:
    """Batches of these records, each of about this size at most."""
    gathered: list[Record] = []
    size = 0
    for record in records:
        own = size_of(record)
        if gathered and size + own > bytes_max:
            yield piece_of(gathered)
            gathered, size = [], 0
        gathered.append(record)
        size += own
    if gathered:
        yield piece_of(gathered)


def size_of(record: Record) -> int:
    """About how many bytes a record takes; lengths and deltas are small beside the rest."""
    headers = sum(len(name) + len(value or b"") + 4 for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers + 16


def piece_of(records: list[Record]) -> Piece:
    """Records one after the other, whatever their offsets were."""
    numbered = [record._replace(offset=number) for number, record in enumerate(records)]
    latest = max(record.timestamp for record in records)
    data = bytes(write_batch(numbered)[HEADER_BYTES:])
    return Piece(data, len(records), records[0].timestamp, latest)
