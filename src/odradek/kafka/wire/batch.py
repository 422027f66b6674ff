"""A record batch (magic 2): a header of 61 bytes, and records that stay closed.

A `Batch` is a view: it reads the header with one `struct` and copies nothing. The base offset
and the leader epoch lie outside the checksum, so the leader stamps both into the buffer
without touching the rest; the append time lies inside, and costs a new checksum.

Every entry of a record set, of any magic, starts with an offset and a length, and has its magic
at byte 16. A set may end inside an entry: a fetch is cut at its size limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from odradek.kafka.wire.batch_errors import CorruptBatch
from odradek.kafka.wire.compression import Codec, codec_of
from odradek.kafka.wire.crc import crc32c

HEADER = Struct(">qiibIhiqqqhii")
HEADER_BYTES = HEADER.size
ENTRY_START = Struct(">qi")  # Offset and length, the same in all formats.
ENTRY_START_BYTES = ENTRY_START.size
LENGTH_BYTES_MIN = HEADER_BYTES - ENTRY_START_BYTES  # 49: a batch without records.
MAGIC_POSITION = 16
LEGACY_OVERHEAD_BYTES = 14  # The least that follows an offset and a length: an empty v0 message.

CODEC_MASK = 0x07
APPEND_TIME = 0x08
TRANSACTIONAL = 0x10
CONTROL = 0x20
DELETE_HORIZON = 0x40

CHECKED_FROM = 21  # The first byte under the checksum.
CRC = Struct(">I")
CRC_POSITION = 17
_BASE_OFFSET = Struct(">q")
_LEADER_EPOCH = Struct(">i")
_LEADER_EPOCH_POSITION = 12
_ATTRIBUTES = Struct(">h")
_ATTRIBUTES_POSITION = 21
_MAX_TIMESTAMP = Struct(">q")
_MAX_TIMESTAMP_POSITION = 35


@dataclass(slots=True, init=False, eq=False)
class Batch:
    """One whole batch in the buffer it came in."""

    data: memoryview
    base_offset: int
    leader_epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int  # The first record's, or the delete horizon if there is one.
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    def __init__(self, data: memoryview) -> None:
        if len(data) < HEADER_BYTES:
            raise CorruptBatch(f"a batch of {len(data)} bytes has no room for its header")
        self.data = data
        (
            self.base_offset,
            length,
            self.leader_epoch,
            magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.record_count,
        ) = HEADER.unpack_from(data)
        if magic != 2:
            raise CorruptBatch(f"magic {magic} where a batch of magic 2 must be")
        if length != len(data) - ENTRY_START_BYTES:
            raise CorruptBatch(f"a batch of {len(data)} bytes says that {length} follow its length")

    @property
    def records(self) -> memoryview:
        """The records as they came, compressed or not."""
        return self.data[HEADER_BYTES:]

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record: after 2^31 - 1 comes 0."""
        if self.base_sequence < 0:
            return -1
        return self.base_sequence + self.last_offset_delta & 0x7FFF_FFFF

    @property
    def codec(self) -> Codec:
        return codec_of(self.attributes)

    @property
    def is_append_time(self) -> bool:
        return bool(self.attributes & APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When the tombstones and markers in here may go, if the cleaner has said so."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON else None

    def check_crc(self) -> None:
        """Raise `CorruptBatch` unless the bytes are those that were written."""
        found = crc32c(self.data[CHECKED_FROM:])
        if found != self.crc:
            raise CorruptBatch(f"checksum {found:08x}, the header says {self.crc:08x}")

    def stamp(self, base_offset: int, leader_epoch: int) -> None:
        """Write the place in the log into the buffer, which must be writable."""
        _BASE_OFFSET.pack_into(self.data, 0, base_offset)
        _LEADER_EPOCH.pack_into(self.data, _LEADER_EPOCH_POSITION, leader_epoch)
        self.base_offset = base_offset
        self.leader_epoch = leader_epoch

    def stamp_append_time(self, now_ms: int) -> None:
        """Give all records the time of the append, and the batch a new checksum."""
        self.attributes |= APPEND_TIME
        self.max_timestamp = now_ms
        _MAX_TIMESTAMP.pack_into(self.data, _MAX_TIMESTAMP_POSITION, now_ms)
        _ATTRIBUTES.pack_into(self.data, _ATTRIBUTES_POSITION, self.attributes)
        self.crc = crc32c(self.data[CHECKED_FROM:])
        CRC.pack_into(self.data, CRC_POSITION, self.crc)


def cut_entries(data: memoryview) -> Iterator[memoryview]:
    """Each whole entry of a record set, of any magic; a partial one at the end is left out."""
    position, end = 0, len(data)
    while end - position > MAGIC_POSITION:
        _, length = ENTRY_START.unpack_from(data, position)
        if length < LEGACY_OVERHEAD_BYTES:
            raise CorruptBatch(f"an entry at {position} says that {length} bytes follow its length")
        magic = data[position + MAGIC_POSITION]
        if magic > 2:
            raise CorruptBatch(f"an entry at {position} has magic {magic}")
        start, position = position, position + ENTRY_START_BYTES + length
        if position > end:
            return
        yield data[start:position]


def read_batches(data: memoryview, *, partial_tail: bool = False) -> Iterator[Batch]:
    """The batches of a record set; a partial one at the end is an error unless it may be there."""
    position = 0
    for entry in cut_entries(data):
        position += len(entry)
        yield Batch(entry)
    if position < len(data) and not partial_tail:
        raise CorruptBatch(f"the last {len(data) - position} bytes are no whole batch")
