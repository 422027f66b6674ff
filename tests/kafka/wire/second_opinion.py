"""kafka-python's reader and writer of records, as a judge of ours."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import NO_TIMESTAMP, Record

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Its own, of loading its schemas.
    from kafka import codec as their_codecs
    from kafka.record.memory_records import MemoryRecords, MemoryRecordsBuilder

# Some of its codecs come with packages of their own, which may be missing.
CODECS = [
    codec
    for codec in Codec
    if codec is Codec.NONE or getattr(their_codecs, f"has_{codec.name.lower()}")()
]
MAGICS_AND_CODECS = [
    (magic, codec) for magic in (0, 1, 2) for codec in CODECS if codec < Codec.ZSTD or magic == 2
]


def read(data: bytes | bytearray) -> list[Record]:
    """The records of a set, as kafka-python reads them."""
    found: list[Record] = []
    for batch in MemoryRecords(bytes(data)):
        assert batch.validate_crc()
        for record in batch:
            timestamp = NO_TIMESTAMP if record.timestamp is None else record.timestamp
            headers = tuple(record.headers)
            found.append(Record(record.offset, timestamp, record.key, record.value, headers))
    return found


def write(records: Iterable[Record], magic: int, codec: Codec) -> memoryview:
    """The records as kafka-python writes them, from offset 0 on."""
    builder = MemoryRecordsBuilder(magic, int(codec), batch_size=2**31)
    for record in records:
        headers = list(record.headers)
        assert builder.append(record.timestamp, record.key, record.value, headers) is not None
    builder.close()
    return memoryview(bytes(builder.buffer()))
