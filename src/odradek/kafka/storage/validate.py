"""What a leader makes of the records that it is asked to append. Reads all, changes nothing.

A batch is stored as it came, if its format, codec and times are what the topic wants: then it is
not opened, and a stamp in its first bytes is all that it gets. It is opened where a rule is
about its records: keys on compacted topics, limits on timestamps, another codec. Message sets of
magic 0 and 1 are rewritten as one batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from struct import Struct

from odradek.kafka.storage.refusal import RecordError, Refusal
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.wire.batch import (
    APPEND_TIME,
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL,
    CRC,
    CRC_POSITION,
    ENTRY_START,
    ENTRY_START_BYTES,
    HEADER,
    HEADER_BYTES,
    MAGIC_POSITION,
    Batch,
    cut_entries,
)
from odradek.kafka.wire.batch_errors import (
    BatchTooLarge,
    CorruptBatch,
    InvalidRecord,
    UnsupportedCodec,
)
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.conversion import message_set_codec, up_convert
from odradek.kafka.wire.crc import crc32c
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.records import NO_TIMESTAMP, Record, read_records

STAMP = Struct(">qii")  # Base offset, length, leader epoch: the bytes before the magic.
UNUSUAL = CODEC_MASK | APPEND_TIME | CONTROL  # A batch with none of these needs no second look.
RECORD_BYTES_MIN = 7  # One byte for each of a record's fields.
ERRORS_SHOWN = 3
ERRORS_MAX = 10_000  # As many as are told of one batch.
# A few bytes may unpack to millions of records. So many are held while they are looked at...
HELD_MAX = 100_000
# ...and so many are looked at; more only where a batch may have more bytes.
OPENED_MAX = 1_000_000


class Origin(Enum):
    """Who wants to append: a client may write neither control batches nor offsets of its own."""

    CLIENT = "client"
    COORDINATOR = "coordinator"


@dataclass(slots=True)
class Accepted:
    """A batch as it will be stored, but for its place in the log."""

    batch: Batch
    head: bytes = b""  # The whole header, where more than the stamp is new.

    def stamped(self, base_offset: int, leader_epoch: int) -> tuple[bytes, memoryview]:
        """The bytes to append. The batch knows its place; the buffer it came in stays as it was."""
        batch = self.batch
        batch.base_offset, batch.leader_epoch = base_offset, leader_epoch
        data = batch.data
        stamp = STAMP.pack(base_offset, len(data) - 12, leader_epoch)
        if self.head:
            return stamp + self.head[STAMP.size :], data[HEADER_BYTES:]
        return stamp, data[STAMP.size :]


@dataclass(slots=True)
class Reopened:
    """The records of a batch that has too many to hold: opened each time they are gone through."""

    batch: Batch

    def __iter__(self) -> Iterator[Record]:
        return read_records(self.batch)


def validate(
    records: memoryview, settings: LogSettings, now_ms: int, origin: Origin = Origin.CLIENT
) -> Accepted | Refusal:
    """Say what to append of a produce request's records, or why nothing."""
    try:
        if origin is Origin.COORDINATOR:
            accepted = _keep(Batch(records), settings, now_ms, origin)
        elif len(records) > MAGIC_POSITION and records[MAGIC_POSITION] < 2:
            accepted = _convert(records, settings, now_ms)
        else:
            accepted = _keep(_only_batch(records), settings, now_ms, origin)
    except CorruptBatch as error:
        return Refusal(ErrorCode.CORRUPT_MESSAGE, str(error))
    except UnsupportedCodec as error:
        return Refusal(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, str(error))
    except (InvalidRecord, BatchTooLarge) as error:
        return Refusal(ErrorCode.INVALID_RECORD, str(error))
    if isinstance(accepted, Refusal) or len(accepted.batch.data) <= settings.batch_bytes_max:
        return accepted
    return _too_large(len(accepted.batch.data), settings)


def _keep(batch: Batch, settings: LogSettings, now_ms: int, origin: Origin) -> Accepted | Refusal:
    if len(batch.data) > settings.batch_bytes_max:
        return _too_large(len(batch.data), settings)
    is_looked_into = False  # What a coordinator has just written is whole, with keys and times.
    if origin is Origin.CLIENT:
        batch.check_crc()
        if mistake := _client_mistake(batch):
            return Refusal(ErrorCode.INVALID_RECORD, mistake)
        is_looked_into = settings.has_rules_for_records
    if not (is_looked_into or settings.is_rewriting or batch.attributes & UNUSUAL):
        return Accepted(batch)
    if batch.is_control:
        return Accepted(batch)
    codec = batch.codec
    if batch.is_append_time:
        return _refuse_append_time(batch)
    target = codec if settings.compression is None else settings.compression
    if target is not codec or is_looked_into:
        return _open(batch, target, settings, now_ms)
    return _with_append_time(batch, now_ms) if settings.is_append_time else Accepted(batch)


def _only_batch(records: memoryview) -> Batch:
    """The one batch that a request may bring; the bytes of a partial one are dropped."""
    size = len(records)
    if size >= HEADER_BYTES and ENTRY_START.unpack_from(records)[1] == size - ENTRY_START_BYTES:
        return Batch(records)
    entries = cut_entries(records)
    first = next(entries, None)
    if first is None:
        raise InvalidRecord("Produce requests must have exactly one record batch, there is none")
    if len(first) < len(records) and next(entries, None) is not None:
        raise InvalidRecord("Produce requests must have exactly one record batch, there are more")
    return Batch(first)


def _client_mistake(batch: Batch) -> str | None:
    count, delta = batch.record_count, batch.last_offset_delta
    if batch.base_offset:
        return f"The baseOffset of the record batch should be 0, but it is {batch.base_offset}"
    if count <= 0 or delta + 1 != count:
        return f"Inconsistent batch offset range [0, {delta}] and count of records {count}"
    if not batch.attributes & 7 and count * RECORD_BYTES_MIN > len(batch.data) - HEADER_BYTES:
        return f"No room for {count} records in a batch of {len(batch.data)} bytes"
    if batch.producer_id >= 0 and batch.base_sequence < 0:
        return f"Invalid sequence number {batch.base_sequence} in record batch with producerId"
    if batch.is_control:
        return "Clients are not allowed to write control records"
    return None


def _too_large(size: int, settings: LogSettings) -> Refusal:
    if size > settings.max_message_bytes:
        reason = f"The record batch size is {size} bytes, the maximum {settings.max_message_bytes}"
        return Refusal(ErrorCode.MESSAGE_TOO_LARGE, reason)
    reason = f"The record batch size is {size} bytes, a segment has {settings.segment_bytes}"
    return Refusal(ErrorCode.RECORD_LIST_TOO_LARGE, reason)


def _open(batch: Batch, target: Codec, settings: LogSettings, now_ms: int) -> Accepted | Refusal:
    """Look at every record; write them anew where the batch cannot stay as it is."""
    count_max = max(OPENED_MAX, settings.max_message_bytes)
    if batch.record_count > count_max:
        reason = f"{batch.record_count} records in one batch, {count_max} can be looked at"
        return Refusal(ErrorCode.INVALID_RECORD, reason)
    is_held = batch.record_count <= HELD_MAX
    records = list(read_records(batch)) if is_held else Reopened(batch)
    if errors := list(islice(_record_errors(records, settings, now_ms), ERRORS_MAX)):
        return _refuse_records(errors)
    is_in_order = all(record.offset == offset for offset, record in enumerate(records))
    if target is batch.codec and is_in_order:
        return _with_append_time(batch, now_ms) if settings.is_append_time else Accepted(batch)
    envelope = replace(
        Envelope.of(batch),
        codec=target,
        append_time_ms=now_ms if settings.is_append_time else None,
    )
    renumbered = (record._replace(offset=offset) for offset, record in enumerate(records))
    level = None if settings.compression is None else settings.compression_level
    return Accepted(Batch(memoryview(write_batch(renumbered, envelope, level))))


def _convert(records: memoryview, settings: LogSettings, now_ms: int) -> Accepted | Refusal:
    """A message set as one batch."""
    for entry in cut_entries(records):
        if len(entry) > settings.batch_bytes_max:
            return _too_large(len(entry), settings)
    if (codec := settings.compression) is None:
        codec = message_set_codec(records)
    append_time_ms = now_ms if settings.is_append_time else None
    converted = up_convert(records, Envelope(codec=codec, append_time_ms=append_time_ms))
    batch = Batch(memoryview(converted))
    if not settings.is_compacted and not settings.has_timestamp_limits:
        return Accepted(batch)
    errors = list(_record_errors(read_records(batch), settings, now_ms))
    return _refuse_records(errors) if errors else Accepted(batch)


ApiError = tuple[ErrorCode, RecordError]


def _record_errors(
    records: Iterable[Record], settings: LogSettings, now_ms: int
) -> Iterator[ApiError]:
    earliest = now_ms - settings.timestamp_before_max_ms
    latest = now_ms + settings.timestamp_after_max_ms
    is_limited = settings.has_timestamp_limits
    for index, record in enumerate(records):
        if settings.is_compacted and record.key is None:
            reason = "Compacted topic cannot accept message without key"
            yield ErrorCode.INVALID_RECORD, RecordError(index, reason)
            continue
        if not is_limited or record.timestamp == NO_TIMESTAMP:
            continue
        if not earliest <= record.timestamp <= latest:
            reason = (
                f"Timestamp {record.timestamp} of message with offset {index} is out of range. "
                f"The timestamp should be within [{earliest}, {latest}]"
            )
            yield ErrorCode.INVALID_TIMESTAMP, RecordError(index, reason)


def _refuse_records(errors: list[ApiError]) -> Refusal:
    found = tuple(error for _, error in errors)
    if any(code is ErrorCode.INVALID_TIMESTAMP for code, _ in errors):
        reason = "One or more records have been rejected due to invalid timestamp"
        return Refusal(ErrorCode.INVALID_TIMESTAMP, reason, found)
    shown = "; ".join(error.message for error in found[:ERRORS_SHOWN])
    reason = (
        f"One or more records have been rejected due to {len(found)} record errors in total, "
        f"and only showing the first three errors at most: {shown}"
    )
    return Refusal(ErrorCode.INVALID_RECORD, reason, found)


def _refuse_append_time(batch: Batch) -> Refusal:
    reason = "Producer should not set timestamp type to LogAppendTime"
    error = RecordError(0, f"Invalid timestamp type in message. {reason}.")
    return Refusal(ErrorCode.INVALID_TIMESTAMP, reason, (error,))


def _with_append_time(batch: Batch, now_ms: int) -> Accepted:
    """The same records under a new header: the checksum goes on over them where they are."""
    batch.attributes |= APPEND_TIME
    batch.max_timestamp = now_ms
    fields = list(HEADER.unpack_from(batch.data))
    fields[5], fields[8] = batch.attributes, now_ms
    head = bytearray(HEADER.pack(*fields))
    batch.crc = crc32c(batch.data[HEADER_BYTES:], crc32c(head[CHECKED_FROM:]))
    CRC.pack_into(head, CRC_POSITION, batch.crc)
    return Accepted(batch, bytes(head))
