"""Message sets: records of magic 0 and 1, from before record batches.

offset | size | CRC-32 of the rest | magic | attributes | timestamp (magic 1) | key | value, with
32-bit lengths, -1 for null. A compressed set is the value of one wrapper message, whose
offset is that of its last inner message. The inner offsets are absolute in magic 0; in magic 1
they count from the first, so that a broker could move them all by writing the wrapper's alone. A
wrapper with the time of the append gives it to all inner messages. Wrappers do not nest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from odradek.kafka.wire.batch import APPEND_TIME, ENTRY_START, cut_entries
from odradek.kafka.wire.batch_errors import CorruptBatch, InvalidRecord, UnsupportedCodec
from odradek.kafka.wire.compression import (
    DECOMPRESSED_BYTES_MAX,
    Codec,
    codec_of,
    compress,
    decompress,
)
from odradek.kafka.wire.lz4_frame import HEADER_MAGIC_0
from odradek.kafka.wire.octets import Octets
from odradek.kafka.wire.records import NO_TIMESTAMP, Record
from odradek.kafka.wire.varint import to_int64

MAGIC_0, MAGIC_1 = 0, 1
_HEAD = Struct(">qiIbb")  # Up to the attributes, the same in both.
_CHECKED_FROM = 16
_TIMESTAMP = Struct(">q")
_TIMESTAMP_POSITION = _HEAD.size
_LENGTH = Struct(">i")
_ENTRY = Struct(">qiI")
_BODY_START_0 = Struct(">bb")
_BODY_START_1 = Struct(">bbq")


class Message(NamedTuple):
    """One message as it stands in a set: a record, or a wrapper around some."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes)

    @property
    def is_append_time(self) -> bool:
        return self.magic == MAGIC_1 and bool(self.attributes & APPEND_TIME)


def read_message_set(data: memoryview, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
    """The records of a set, out of their wrappers, each of which may hold `limit` bytes."""
    for entry in cut_entries(data):
        yield from unwrap(read_message(entry), limit)


def read_message(entry: memoryview) -> Message:
    """The message in one entry as it was cut, once its checksum is found right."""
    offset, _, crc, magic, attributes = _HEAD.unpack_from(entry)
    if magic not in (MAGIC_0, MAGIC_1):
        raise CorruptBatch(f"magic {magic} in a message set")
    found = crc32(entry[_CHECKED_FROM:])
    if found != crc:
        raise CorruptBatch(f"checksum {found:08x}, the message says {crc:08x}")
    timestamp, position = NO_TIMESTAMP, _TIMESTAMP_POSITION
    if magic == MAGIC_1:
        (timestamp,) = _TIMESTAMP.unpack_from(entry, position)
        position += _TIMESTAMP.size
    key, position = _read_bytes(entry, position)
    value, position = _read_bytes(entry, position)
    if position != len(entry):
        raise InvalidRecord(f"{len(entry) - position} bytes after the value of a message")
    return Message(offset, magic, attributes, timestamp, key, value)


def unwrap(message: Message, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
    """The record that a message is, or those that it wraps."""
    if message.codec is Codec.NONE:
        yield Record(message.offset, message.timestamp, message.key, message.value)
        return
    if message.value is None:
        raise InvalidRecord("a wrapper around nothing")
    entries = memoryview(decompress(message.codec, message.value, limit))
    last_offset = _last_offset(entries)
    shift = message.offset - last_offset if message.magic == MAGIC_1 else 0
    for entry in cut_entries(entries):
        inner = read_message(entry)
        if inner.magic != message.magic or inner.codec is not Codec.NONE:
            raise InvalidRecord("a wrapper inside a wrapper, or around another magic")
        timestamp = message.timestamp if message.is_append_time else inner.timestamp
        yield Record(to_int64(inner.offset + shift), timestamp, inner.key, inner.value)


def write_message_set(
    records: Iterable[Record],
    magic: int,
    codec: Codec = Codec.NONE,
    append_time_ms: int | None = None,
) -> bytearray:
    """The records as one message set, which may be empty; headers are left out.

    A compressed set is one wrapper, whose timestamp is the largest of those within.
    """
    if codec is Codec.ZSTD:
        raise UnsupportedCodec("zstd came with magic 2")
    attributes = APPEND_TIME if magic == MAGIC_1 and append_time_ms is not None else 0
    is_relative = magic == MAGIC_1 and codec is not Codec.NONE
    base_offset: int | None = None if is_relative else 0
    out, offset, wrapper_timestamp = bytearray(), 0, NO_TIMESTAMP
    for offset, timestamp, key, value, _ in records:
        if base_offset is None:
            base_offset = offset
        if append_time_ms is not None:
            timestamp = wrapper_timestamp = append_time_ms
        elif timestamp > wrapper_timestamp:
            wrapper_timestamp = timestamp
        out += _entry(offset - base_offset, magic, attributes, timestamp, key, value)
    if codec is Codec.NONE or not out:
        return out
    value = _compress(codec, out, magic)
    return bytearray(_entry(offset, magic, attributes | codec, wrapper_timestamp, None, value))


def _last_offset(entries: memoryview) -> int:
    offset: int | None = None
    for entry in cut_entries(entries):
        offset, _ = ENTRY_START.unpack_from(entry)
    if offset is None:
        raise InvalidRecord("a wrapper around no message")
    return offset


def _read_bytes(entry: memoryview, position: int) -> tuple[bytes | None, int]:
    start = position + _LENGTH.size
    if start > len(entry):
        raise InvalidRecord("a message is cut off in a length")
    (size,) = _LENGTH.unpack_from(entry, position)
    if size == -1:
        return None, start
    if not 0 <= size <= len(entry) - start:
        raise InvalidRecord(f"{size} bytes in a message with {len(entry) - start} left")
    return bytes(entry[start : start + size]), start + size


def _entry(
    offset: int, magic: int, attributes: int, timestamp: int, key: bytes | None, value: bytes | None
) -> bytes:
    if magic == MAGIC_0:
        start = _BODY_START_0.pack(magic, attributes)
    else:
        start = _BODY_START_1.pack(magic, attributes, timestamp)
    body = b"%b%b%b" % (start, _bytes(key), _bytes(value))
    return _ENTRY.pack(to_int64(offset), _LENGTH.size + len(body), crc32(body)) + body


def _bytes(data: bytes | None) -> bytes:
    return _LENGTH.pack(-1) if data is None else _LENGTH.pack(len(data)) + data


def _compress(codec: Codec, data: Octets, magic: int) -> bytes:
    compressed = compress(codec, data)
    if codec is Codec.LZ4 and magic == MAGIC_0:
        return HEADER_MAGIC_0 + compressed[len(HEADER_MAGIC_0) :]
    return compressed
