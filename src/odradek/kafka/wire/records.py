"""The records inside a batch.

length | attributes | timestamp delta | offset delta | key | value | headers: numbers are zigzag
varints, and a length of -1 stands for null. Deltas count from the batch's base offset and base
timestamp. Where the topic takes the time of the append, all records have the batch's maximum.

A batch may have a hundred thousand records, so the walk opens each number of one or two bytes
in place, calls a function for longer ones alone, and holds one record at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import NamedTuple, NoReturn

from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.compression import DECOMPRESSED_BYTES_MAX, decompress
from odradek.kafka.wire.varint import (
    InvalidVarint,
    read_unsigned_varint,
    read_unsigned_varlong,
    read_varint,
    to_int64,
)

Header = tuple[str, bytes | None]
NO_HEADERS: tuple[Header, ...] = ()
NO_TIMESTAMP = -1
_INT64_MIN, _INT64_MAX = -(2**63), 2**63 - 1
_make = tuple.__new__  # Half the cost of a named tuple's own constructor.


class Record(NamedTuple):
    """One record. A value of None is a tombstone."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = NO_HEADERS


def read_records(batch: Batch, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
    """The records of a batch, opened one by one; compressed ones within `limit` bytes.

    Raises `InvalidRecord` where they end too early, go on too long or make no sense.
    """
    if not batch.record_count:
        return iter(())  # What the cleaner leaves of a producer's last batch.
    if batch.record_count < 0 or abs(batch.base_offset) > _INT64_MAX - 2**31:
        raise InvalidRecord(f"{batch.record_count} records from offset {batch.base_offset} on")
    records = _walk(decompress(batch.codec, batch.records, limit), batch)
    if batch.is_append_time:
        return (record._replace(timestamp=batch.max_timestamp) for record in records)
    return records


def _walk(data: bytes, batch: Batch) -> Iterator[Record]:
    base_offset, base_timestamp = batch.base_offset, batch.base_timestamp
    position, last_delta, timestamp = 0, 0, base_timestamp
    try:
        for _ in repeat(None, batch.record_count):
            if (length := data[position]) < 128:
                start = position + 1
            elif (more := data[position + 1]) < 128:
                length += more - 1 << 7
                start = position + 2
            else:
                length, start = read_unsigned_varint(data, position)
            # The attributes are next, and mean nothing.
            if (delta := data[start + 1]) < 128:
                position = start + 2
            elif (more := data[start + 2]) < 128:
                delta += more - 1 << 7
                position = start + 3
            else:
                delta, position = read_unsigned_varlong(data, start + 1)
            if delta != last_delta:  # Neighbours often share a millisecond.
                last_delta, timestamp = delta, base_timestamp + (delta >> 1 ^ -(delta & 1))
                if not _INT64_MIN <= timestamp <= _INT64_MAX:
                    timestamp = to_int64(timestamp)
            if (delta := data[position]) < 128:
                position += 1
            elif (more := data[position + 1]) < 128:
                delta += more - 1 << 7
                position += 2
            else:
                delta, position = read_unsigned_varint(data, position)
            offset = base_offset + (delta >> 1 ^ -(delta & 1))
            if (size := data[position]) < 128:
                position += 1
            else:
                size, position = read_unsigned_varint(data, position)
            end = position + (size >> 1)
            key = None if size == 1 else _refuse(size) if size & 1 else data[position:end]
            position = end
            if (size := data[position]) < 128:
                position += 1
            elif (more := data[position + 1]) < 128:
                size += more - 1 << 7
                position += 2
            else:
                size, position = read_unsigned_varint(data, position)
            end = position + (size >> 1)
            value = None if size == 1 else _refuse(size) if size & 1 else data[position:end]
            position = end
            if data[position]:
                headers, position = _read_headers(data, position)
            else:
                headers, position = NO_HEADERS, position + 1
            if position - start != length >> 1:
                raise InvalidRecord(f"a record of {position - start} bytes says {length >> 1}")
            yield _make(Record, (offset, timestamp, key, value, headers))
    except (IndexError, InvalidVarint) as error:
        raise InvalidRecord(f"cut off inside a record: {error}") from error
    if position != len(data):
        raise InvalidRecord(f"{len(data) - position} bytes after the last record")


def _read_bytes(data: bytes, position: int) -> tuple[bytes | None, int]:
    size, start = read_varint(data, position)
    if size == -1:
        return None, start
    if size < 0:
        raise InvalidRecord(f"a length of {size}")
    return data[start : start + size], start + size


def _refuse(size: int) -> NoReturn:
    raise InvalidRecord(f"a length of {~(size >> 1)}")


def _read_headers(data: bytes, position: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    if not 0 <= count <= len(data) - position >> 1:
        raise InvalidRecord(f"{count} headers in {len(data) - position} bytes")
    headers: list[Header] = []
    for _ in range(count):
        key, position = _read_bytes(data, position)
        if key is None:
            raise InvalidRecord("a header without a key")
        value, position = _read_bytes(data, position)
        # Bytes that are no UTF-8 must survive being read and written again.
        headers.append((key.decode(errors="surrogateescape"), value))
    return tuple(headers), position
