"""Old formats to new and back, for clients from before record batches.

Up: what Produce v0-2 brings is stored as one batch of magic 2; the leader assigns its offsets.
Down: Fetch v0-1 answers magic 0 and v2-3 magic 1. Headers, control batches and producer ids
have no place there and are dropped; offsets stay. Old readers take an empty answer for the end of
the log, so a set of which nothing is left becomes the start of an entry that is too long to be
whole: they ask again, for more.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from odradek.kafka.wire.batch import ENTRY_START, HEADER_BYTES, MAGIC_POSITION, Batch, cut_entries
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import DECOMPRESSED_BYTES_MAX, Codec, codec_of
from odradek.kafka.wire.message_set import (
    read_message,
    read_message_set,
    unwrap,
    write_message_set,
)
from odradek.kafka.wire.records import Record, read_records

OVERLONG_ENTRY = ENTRY_START.pack(-1, HEADER_BYTES)
_ATTRIBUTES_POSITION = MAGIC_POSITION + 1


def up_convert(
    data: memoryview, envelope: Envelope, limit: int = DECOMPRESSED_BYTES_MAX
) -> bytearray:
    """A message set as one batch; offsets count from the envelope's base offset, or 0."""
    records = _renumbered(read_message_set(data, limit), envelope.base_offset or 0)
    first = next(records, None)
    if first is None:
        raise InvalidRecord("no whole message to convert")
    return write_batch(chain((first,), records), envelope)


def message_set_codec(data: memoryview) -> Codec:
    """The codec of the last compressed message, which `compression.type=producer` keeps."""
    codec = Codec.NONE
    for entry in cut_entries(data):
        codec = codec_of(entry[_ATTRIBUTES_POSITION]) or codec
    return codec


def down_convert(
    data: memoryview, magic: int, first_offset: int, limit: int = DECOMPRESSED_BYTES_MAX
) -> bytearray:
    """A record set in an older magic; what is old enough stays as it is.

    An uncompressed batch gives only the records from `first_offset` on; a compressed one is
    converted whole, for its reader expects to skip some.
    """
    out = bytearray()
    for entry in cut_entries(data):
        if entry[MAGIC_POSITION] <= magic:
            out += entry
        else:
            out += _older(entry, magic, first_offset, limit)
    if data and not out:
        return bytearray(OVERLONG_ENTRY)
    return out


def _older(entry: memoryview, magic: int, first_offset: int, limit: int) -> bytearray:
    if entry[MAGIC_POSITION] == 2:
        batch = Batch(entry)
        if batch.is_control:
            return bytearray()
        codec, records = batch.codec, read_records(batch, limit)
        append_time_ms = batch.max_timestamp if batch.is_append_time else None
    else:
        message = read_message(entry)
        codec, records = message.codec, unwrap(message, limit)
        append_time_ms = message.timestamp if message.is_append_time else None
    if codec is Codec.NONE:
        records = (record for record in records if record.offset >= first_offset)
    return write_message_set(records, magic, codec, append_time_ms)


def _renumbered(records: Iterator[Record], base_offset: int) -> Iterator[Record]:
    for offset, record in enumerate(records, base_offset):
        yield Record(offset, record.timestamp, record.key, record.value)
