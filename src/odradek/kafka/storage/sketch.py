"""What the cleaner must know of records: their keys, where each lies, which are tombstones.

Most records are looked at twice and then copied as they are or left out, so none is opened
further than its key and the length of its value. Of those that must be moved to another base
timestamp, only the timestamp is written anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.compression import decompress
from odradek.kafka.wire.varint import (
    VARINTS,
    InvalidVarint,
    read_unsigned_varint,
    read_varlong,
    to_int64,
)

Key = bytes | None


class Sketch(NamedTuple):
    """The records of one batch, out of their compression, and not opened."""

    data: bytes
    keys: list[Key]
    bounds: list[int]  # Where each record begins, and where the last one ends.
    tombstones: list[int]  # Which records have no value.

    def timestamp(self, number: int, base_timestamp: int) -> int:
        delta, _ = self._timestamp_delta(number)
        return to_int64(base_timestamp + delta)

    def runs(self, kept: Sequence[int]) -> bytearray:
        """The bytes of some records, in order, as they are: neighbours are copied together."""
        out, bounds = bytearray(), self.bounds
        first = last = kept[0]
        for number in kept:
            if number > last + 1:
                out += self.data[bounds[first] : bounds[last + 1]]
                first = number
            last = number
        out += self.data[bounds[first] : bounds[last + 1]]
        return out

    def moved(self, kept: Sequence[int], timestamps: Sequence[int], base: int) -> bytearray:
        """The same, with timestamps that count from another base."""
        out, data, bounds = bytearray(), self.data, self.bounds
        for number, timestamp in zip(kept, timestamps, strict=True):
            _, rest = self._timestamp_delta(number)
            body = b"\0%b%b" % (VARINTS[timestamp - base], data[rest : bounds[number + 1]])
            out += VARINTS[len(body)]
            out += body
        return out

    def _timestamp_delta(self, number: int) -> tuple[int, int]:
        """The delta, and the position of what follows it."""
        _, position = read_unsigned_varint(self.data, self.bounds[number])
        return read_varlong(self.data, position + 1)


def sketch(batch: Batch) -> Sketch:
    """Walk over the records; raises `InvalidRecord` where they make no sense."""
    if batch.record_count <= 0:
        if batch.record_count or len(batch.records):
            raise InvalidRecord(f"{batch.record_count} records in {len(batch.records)} bytes")
        return Sketch(b"", [], [0], [])
    data = decompress(batch.codec, batch.records)
    try:
        walked = _walk(data, batch.record_count)
    except (IndexError, InvalidVarint) as error:
        raise InvalidRecord(f"cut off inside a record: {error}") from error
    if walked.bounds[-1] != len(data):
        raise InvalidRecord(f"{len(data) - walked.bounds[-1]} bytes after the last record")
    return walked


def _walk(data: bytes, record_count: int) -> Sketch:
    keys: list[Key] = []
    bounds, tombstones, position = [0], list[int](), 0
    add_key, add_bound = keys.append, bounds.append
    for _ in repeat(None, record_count):
        if (length := data[position]) < 128:
            position += 1
        elif (more := data[position + 1]) < 128:
            length += more - 1 << 7
            position += 2
        else:
            length, position = read_unsigned_varint(data, position)
        end = position + (length >> 1)
        position += 1  # The attributes mean nothing.
        while data[position] > 127:  # The timestamp...
            position += 1
        position += 1
        while data[position] > 127:  # ...and the offset are of no interest.
            position += 1
        position += 1
        if (size := data[position]) < 128:
            position += 1
        else:
            size, position = read_unsigned_varint(data, position)
        if size & 1:
            add_key(None if size == 1 else _refuse(size))
        else:
            start, position = position, position + (size >> 1)
            add_key(data[start:position])
        if data[position] == 1:
            tombstones.append(len(keys) - 1)
        if length & 1 or position >= end:
            _refuse(length)
        add_bound(end)
        position = end
    return Sketch(data, keys, bounds, tombstones)


def _refuse(size: int) -> Key:
    raise InvalidRecord(f"a length of {size >> 1 ^ -(size & 1)} does not fit its record")
