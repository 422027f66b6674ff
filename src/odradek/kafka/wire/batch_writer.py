"""Writing batches of magic 2.

The base timestamp is that of the first record, or the delete horizon where the cleaner has set
one. Records are taken one by one, so a rewritten batch needs no more room than its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from odradek.kafka.wire.batch import (
    APPEND_TIME,
    CHECKED_FROM,
    CODEC_MASK,
    CONTROL,
    CRC,
    CRC_POSITION,
    DELETE_HORIZON,
    HEADER,
    LENGTH_BYTES_MIN,
    TRANSACTIONAL,
    Batch,
)
from odradek.kafka.wire.compression import Codec, compress
from odradek.kafka.wire.crc import crc32c
from odradek.kafka.wire.records import NO_TIMESTAMP, Header, Record
from odradek.kafka.wire.varint import VARINTS

MAGIC = 2
_NULL = VARINTS[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What a batch says beside its records. The defaults are those of a plain producer."""

    base_offset: int | None = None  # None: the first record's.
    last_offset: int | None = None  # None: the last record's. Cleaning keeps the old one.
    leader_epoch: int = -1
    codec: Codec = Codec.NONE
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    is_control: bool = False
    append_time_ms: int | None = None  # None: the records keep the time of their creation.
    delete_horizon_ms: int | None = None
    attributes: int = field(init=False, repr=False)  # What follows from the others.

    def __post_init__(self) -> None:
        attributes = (
            self.codec
            | APPEND_TIME * (self.append_time_ms is not None)
            | TRANSACTIONAL * self.is_transactional
            | CONTROL * self.is_control
            | DELETE_HORIZON * (self.delete_horizon_ms is not None)
        )
        object.__setattr__(self, "attributes", attributes)

    @classmethod
    def of(cls, batch: Batch) -> Envelope:
        """All that a batch says, for writing it anew with fewer records or another codec."""
        return cls(
            base_offset=batch.base_offset,
            last_offset=batch.last_offset,
            leader_epoch=batch.leader_epoch,
            codec=batch.codec,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            is_transactional=batch.is_transactional,
            is_control=batch.is_control,
            append_time_ms=batch.max_timestamp if batch.is_append_time else None,
            delete_horizon_ms=batch.delete_horizon_ms,
        )


PLAIN = Envelope()


def write_batch(
    records: Iterable[Record], envelope: Envelope = PLAIN, level: int | None = None
) -> bytearray:
    """One batch of at least one record, in a new buffer that may be stamped."""
    body = _write_records(records, envelope)
    data: bytes | bytearray = body.data
    if envelope.codec:
        data = compress(envelope.codec, data, level)
    last_offset = body.last_offset if envelope.last_offset is None else envelope.last_offset
    header = HEADER.pack(
        body.base_offset,
        LENGTH_BYTES_MIN + len(data),
        envelope.leader_epoch,
        MAGIC,
        0,
        envelope.attributes,
        last_offset - body.base_offset,
        body.base_timestamp,
        body.max_timestamp if envelope.append_time_ms is None else envelope.append_time_ms,
        envelope.producer_id,
        envelope.producer_epoch,
        envelope.base_sequence,
        body.record_count,
    )
    return _seal(header, data)


def write_encoded_batch(
    records: bytes,
    record_count: int,
    timestamp: int,
    envelope: Envelope,
    level: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """One batch of records that are written already: deltas from 0 on, times from `timestamp` on.

    They all have that time, unless the latest is named.
    """
    data = compress(envelope.codec, records, level) if envelope.codec else records
    header = HEADER.pack(
        0,
        LENGTH_BYTES_MIN + len(data),
        envelope.leader_epoch,
        MAGIC,
        0,
        envelope.attributes,
        record_count - 1,
        timestamp,
        timestamp if max_timestamp is None else max_timestamp,
        envelope.producer_id,
        envelope.producer_epoch,
        envelope.base_sequence,
        record_count,
    )
    return _seal(header, data)


class WrittenRecords(NamedTuple):
    """Records that all have one time, without the batch that they will stand in."""

    data: bytes
    record_count: int


def write_pairs(pairs: Iterable[tuple[bytes, bytes | None]]) -> WrittenRecords:
    """Records of keys and values, as coordinators write them."""
    written = [write_record(delta, key, value) for delta, (key, value) in enumerate(pairs)]
    return WrittenRecords(b"".join(written), len(written))


def write_record(delta: int, key: bytes, value: bytes | None) -> bytes:
    """One record: without attributes, of the time of its batch, and without headers."""
    rest = _NULL if value is None else VARINTS[len(value)] + value
    body = b"\0\0%b%b%b%b\0" % (VARINTS[delta], VARINTS[len(key)], key, rest)
    return VARINTS[len(body)] + body


def write_empty_batch(batch: Batch) -> bytearray:
    """What the cleaner leaves of a producer's last batch: its sequence, and no record."""
    attributes = batch.attributes & ~(CODEC_MASK | DELETE_HORIZON)
    return rewrite_batch(batch, b"", 0, attributes, NO_TIMESTAMP, batch.max_timestamp)


def rewrite_batch(
    batch: Batch,
    records: bytes | bytearray,
    record_count: int,
    attributes: int,
    base_timestamp: int,
    max_timestamp: int,
) -> bytearray:
    """The place and the producer of a batch, with other records, as they are to be stored."""
    header = HEADER.pack(
        batch.base_offset,
        LENGTH_BYTES_MIN + len(records),
        batch.leader_epoch,
        MAGIC,
        0,
        attributes,
        batch.last_offset_delta,
        base_timestamp,
        max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        record_count,
    )
    return _seal(header, records)


def _seal(header: bytes, data: bytes | bytearray) -> bytearray:
    """Header and records in one buffer, with their checksum in its place."""
    out = bytearray(header)
    out += data
    CRC.pack_into(out, CRC_POSITION, crc32c(data, crc32c(header[CHECKED_FROM:])))
    return out


class _Body(NamedTuple):
    data: bytearray
    record_count: int
    base_offset: int
    last_offset: int
    base_timestamp: int
    max_timestamp: int


def _write_records(records: Iterable[Record], envelope: Envelope) -> _Body:
    remaining = iter(records)
    first = next(remaining, None)
    assert first is not None, "a batch has at least one record"
    base_offset = first.offset if envelope.base_offset is None else envelope.base_offset
    base_timestamp, max_timestamp = first.timestamp, first.timestamp
    if envelope.delete_horizon_ms is not None:
        base_timestamp = envelope.delete_horizon_ms
    varints, out, count, offset = VARINTS, bytearray(), 0, base_offset
    for offset, timestamp, key, value, headers in chain((first,), remaining):
        body = b"\0%b%b%b%b%b" % (
            varints[timestamp - base_timestamp],
            varints[offset - base_offset],
            _NULL if key is None else varints[len(key)] + key,
            _NULL if value is None else varints[len(value)] + value,
            _headers(headers) if headers else b"\0",
        )
        out += varints[len(body)]
        out += body
        count += 1
        if timestamp > max_timestamp:
            max_timestamp = timestamp
    return _Body(out, count, base_offset, offset, base_timestamp, max_timestamp)


def _headers(headers: Iterable[Header]) -> bytes:
    parts: list[bytes] = []
    for key, value in headers:
        name = key.encode(errors="surrogateescape")
        parts += VARINTS[len(name)], name
        parts.append(_NULL if value is None else VARINTS[len(value)] + value)
    return VARINTS[len(parts) // 3] + b"".join(parts)
