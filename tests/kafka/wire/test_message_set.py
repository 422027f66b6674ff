"""Message sets of magic 0 and 1."""

from __future__ import annotations

from struct import pack, pack_into
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire.batch import cut_entries
from odradek.kafka.wire.batch_errors import (
    BatchTooLarge,
    CorruptBatch,
    InvalidRecord,
    UnsupportedCodec,
)
from odradek.kafka.wire.compression import Codec, compress
from odradek.kafka.wire.lz4_frame import HEADER_MAGIC_0
from odradek.kafka.wire.message_set import read_message, read_message_set, write_message_set
from odradek.kafka.wire.records import NO_TIMESTAMP, Record
from tests.kafka.wire import second_opinion
from tests.kafka.wire.any_records import INT64, NO_HEADERS, PLAUSIBLE_MS, any_records
from tests.kafka.wire.golden_records import (
    JAVA_RECORDS,
    LEGACY,
    LEGACY_CODECS,
    java_records,
    java_set,
)

DETERMINISTIC = [Codec.NONE, Codec.LZ4]
RECORDS = [Record(7, 100, b"a", b"1"), Record(8, 99, None, None), Record(12, 98, b"c", b"")]
THEIRS = [(magic, codec) for magic, codec in second_opinion.MAGICS_AND_CODECS if magic < 2]


def read(data: bytes | bytearray | memoryview) -> list[Record]:
    return list(read_message_set(memoryview(data)))


def entry(offset: int, body: bytes) -> bytes:
    """A message whose bytes from the magic on are these, with the checksum they need."""
    return pack(">qiI", offset, len(body) + 4, crc32(body)) + body


def wrapper(magic: int, codec: Codec, value: bytes, timestamp: int = 0) -> bytes:
    time = pack(">q", timestamp) if magic else b""
    return entry(9, bytes((magic, codec)) + time + pack(">ii", -1, len(value)) + value)


def gzipped(*messages: bytes | bytearray) -> bytes:
    return compress(Codec.GZIP, b"".join(messages))


@pytest.mark.parametrize(("magic", "codec"), LEGACY)
def test_what_java_wrote_is_read(magic: int, codec: Codec) -> None:
    assert read(java_set(magic, codec)) == java_records(magic)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", DETERMINISTIC)
def test_a_set_has_the_bytes_of_javas(magic: int, codec: Codec) -> None:
    assert write_message_set(JAVA_RECORDS, magic, codec) == java_set(magic, codec)


@pytest.mark.parametrize(("magic", "codec"), LEGACY)
def test_a_wrapper_says_what_javas_does(magic: int, codec: Codec) -> None:
    ours = read_message(
        next(cut_entries(memoryview(write_message_set(JAVA_RECORDS, magic, codec))))
    )
    javas = read_message(next(cut_entries(java_set(magic, codec))))
    assert ours._replace(value=None) == javas._replace(value=None)


@given(any_records(headers=NO_HEADERS), st.sampled_from(LEGACY_CODECS))
def test_any_records_of_magic_1_are_read_as_written(records: list[Record], codec: Codec) -> None:
    assert read(write_message_set(records, 1, codec)) == records


@given(any_records(headers=NO_HEADERS), st.sampled_from(LEGACY_CODECS))
def test_magic_0_has_no_timestamps(records: list[Record], codec: Codec) -> None:
    expected = [record._replace(timestamp=NO_TIMESTAMP) for record in records]
    assert read(write_message_set(records, 0, codec)) == expected


@pytest.mark.parametrize("codec", LEGACY_CODECS)
@given(records=any_records(headers=NO_HEADERS), now_ms=INT64)
def test_the_time_of_the_append_is_that_of_all_messages(
    codec: Codec, records: list[Record], now_ms: int
) -> None:
    data = write_message_set(records, 1, codec, append_time_ms=now_ms)
    assert read(data) == [record._replace(timestamp=now_ms) for record in records]
    assert read_message(next(cut_entries(memoryview(data)))).is_append_time


def test_a_wrapper_with_the_time_of_the_append_overrides_the_inner_times() -> None:
    data = write_message_set(RECORDS, 1, Codec.GZIP)
    data[17] |= 0x08
    pack_into(">q", data, 18, 5555)
    pack_into(">I", data, 12, crc32(data[16:]))
    assert [record.timestamp for record in read(data)] == [5555] * 3


@pytest.mark.parametrize(("magic", "codec"), THEIRS)
@given(records=any_records(headers=NO_HEADERS, timestamps=PLAUSIBLE_MS))
def test_kafka_python_reads_what_we_write(magic: int, codec: Codec, records: list[Record]) -> None:
    data = write_message_set(records, magic, codec)
    assert second_opinion.read(data) == read(data)


@pytest.mark.parametrize(("magic", "codec"), THEIRS)
@given(records=any_records(headers=NO_HEADERS, timestamps=PLAUSIBLE_MS))
def test_we_read_what_kafka_python_writes(magic: int, codec: Codec, records: list[Record]) -> None:
    found = read(second_opinion.write(records, magic, codec))
    # Its wrappers stand at offset 0, wherever their last message is.
    shift = len(records) - 1 if magic == 1 and codec else 0
    assert [record.offset + shift for record in found] == list(range(len(records)))
    assert [record[2:] for record in found] == [record[2:] for record in records]
    if magic == 1:
        assert [record.timestamp for record in found] == [r.timestamp for r in records]


def test_a_wrapper_stands_at_its_last_offset_and_largest_time() -> None:
    for magic in (0, 1):
        data = memoryview(write_message_set(RECORDS, magic, Codec.SNAPPY))
        message = read_message(data)
        assert message.offset == 12
        assert message.timestamp == (100 if magic else NO_TIMESTAMP)
        assert [record.offset for record in read(data)] == [7, 8, 12]


def test_a_broker_moves_a_wrapper_of_magic_1_by_its_own_offset_alone() -> None:
    data = write_message_set(RECORDS, 1, Codec.GZIP)
    pack_into(">q", data, 0, 1012)
    assert [record.offset for record in read(data)] == [1007, 1008, 1012]


def test_lz4_of_magic_0_keeps_the_wrong_checksum_of_old_clients() -> None:
    assert HEADER_MAGIC_0 in write_message_set(RECORDS, 0, Codec.LZ4)
    assert HEADER_MAGIC_0 not in write_message_set(RECORDS, 1, Codec.LZ4)


def test_zstd_came_after_message_sets() -> None:
    with pytest.raises(UnsupportedCodec):
        write_message_set(RECORDS, 1, Codec.ZSTD)


def test_no_records_make_an_empty_set() -> None:
    assert write_message_set([], 1, Codec.GZIP) == b""
    assert read(b"") == []


def test_a_set_may_end_inside_a_message() -> None:
    data = java_set(1, Codec.NONE)
    for end in range(36, len(data)):
        assert read(data[:end]) == JAVA_RECORDS[:1]


@pytest.mark.parametrize(("magic", "codec"), LEGACY)
def test_any_bit_under_the_checksum_is_guarded_by_it(magic: int, codec: Codec) -> None:
    golden = java_set(magic, codec)
    first = len(next(cut_entries(golden)))
    for position in (*range(12, 16), *range(17, first)):
        bent = bytearray(golden)
        bent[position] ^= 0x80
        with pytest.raises(CorruptBatch, match="checksum"):
            read(bent)


def test_a_wrapper_beyond_the_limit_is_refused() -> None:
    data = write_message_set([Record(0, 0, None, bytes(10_000))], 1, Codec.GZIP)
    with pytest.raises(BatchTooLarge):
        list(read_message_set(memoryview(data), limit=10_000))


PLAIN_0, PLAIN_1 = write_message_set(RECORDS, 0), write_message_set(RECORDS, 1)
BROKEN_WRAPPERS = {
    "around nothing": entry(0, b"\0\1" + pack(">ii", -1, -1)),
    "around no message": wrapper(0, Codec.GZIP, gzipped()),
    "around a wrapper": wrapper(1, Codec.GZIP, gzipped(wrapper(1, Codec.GZIP, gzipped(PLAIN_1)))),
    "around another magic": wrapper(1, Codec.GZIP, gzipped(PLAIN_0)),
    "around the start of a message": wrapper(1, Codec.GZIP, gzipped(PLAIN_1[:20])),
    "around what is not compressed": wrapper(1, Codec.GZIP, bytes(PLAIN_1)),
}


@pytest.mark.parametrize("data", BROKEN_WRAPPERS.values(), ids=BROKEN_WRAPPERS)
def test_a_wrapper_that_makes_no_sense_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRecord):
        read(data)


BROKEN_MESSAGES = {
    "no room for its lengths": b"\1\0" + bytes(8),
    "no room for the second length": b"\1\0" + bytes(8) + bytes(7),
    "a key of negative length": b"\0\0" + pack(">ii", -2, 0),
    "a key that is too long": b"\0\0" + pack(">ii", 2**31 - 1, 0),
    "a value of negative length": b"\0\0" + pack(">ii", -1, -(2**31)),
    "a value that is too long": b"\0\0" + pack(">ii", -1, 1),
    "bytes after the value": b"\0\0" + pack(">ii", -1, 0) + b"x",
}


@pytest.mark.parametrize("body", BROKEN_MESSAGES.values(), ids=BROKEN_MESSAGES)
def test_a_message_that_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        read(entry(0, body))


def test_batches_are_no_messages() -> None:
    with pytest.raises(CorruptBatch, match="magic 2"):
        read(java_set(2, Codec.NONE))


def test_offsets_wrap_around_as_java_lets_them() -> None:
    inner = entry(2**63 - 1, b"\1\0" + pack(">qii", 0, -1, -1))
    data = bytearray(wrapper(1, Codec.GZIP, gzipped(entry(1, inner[16:]), inner)))
    pack_into(">q", data, 0, -(2**63))
    assert all(-(2**63) <= record.offset < 2**63 for record in read(data))
