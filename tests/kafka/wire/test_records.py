"""Records, read from their batches."""

from __future__ import annotations

from struct import pack_into

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record, read_records
from odradek.kafka.wire.varint import VARINTS
from tests.kafka.wire import second_opinion
from tests.kafka.wire.any_records import PLAUSIBLE_MS, any_records
from tests.kafka.wire.golden_records import JAVA_RECORDS, LIBRDKAFKA, TRANSACTIONS, java_set


def read(data: bytes | bytearray | memoryview) -> list[Record]:
    return list(read_records(Batch(memoryview(data))))


def batch_around(body: bytes, count: int = 1) -> bytearray:
    """A batch whose records are these bytes, whatever they are."""
    data = write_batch([Record(0, 0, None, None)])[:61] + body
    pack_into(">i", data, 8, len(data) - 12)
    pack_into(">i", data, 57, count)
    return data


def record_around(body: bytes) -> bytearray:
    """A batch of one record with this body, and the right length before it."""
    return batch_around(VARINTS[len(body)] + body)


@pytest.mark.parametrize("codec", Codec)
def test_what_java_wrote_is_read(codec: Codec) -> None:
    assert read(java_set(2, codec)) == JAVA_RECORDS


def test_what_librdkafka_wrote_is_read_in_every_codec() -> None:
    found = [
        record for batch in read_batches(memoryview(LIBRDKAFKA)) for record in read_records(batch)
    ]
    assert [record.offset for record in found] == list(range(80))
    assert [record.key for record in found] == [f"k{n % 20}".encode() for n in range(80)]
    assert {record.value for record in found} == {
        f"hello hello hello {n}".encode() for n in range(20)
    }


def test_headers_are_read() -> None:
    first, *_ = read_batches(memoryview(TRANSACTIONS))
    assert list(read_records(first)) == [Record(0, 1794725629294, b"k1", b"v1", (("h", b"x"),))]


@given(any_records(), st.sampled_from(Codec))
def test_any_records_are_read_as_they_were_written(records: list[Record], codec: Codec) -> None:
    batch = Batch(memoryview(write_batch(records, Envelope(codec=codec))))
    batch.check_crc()
    assert list(read_records(batch)) == records
    assert batch.record_count == len(records)
    assert batch.last_offset == records[-1].offset
    assert batch.max_timestamp == max(record.timestamp for record in records)


@pytest.mark.parametrize("codec", second_opinion.CODECS)
@given(records=any_records(timestamps=PLAUSIBLE_MS, has_gaps=False))
def test_kafka_python_reads_what_we_write(codec: Codec, records: list[Record]) -> None:
    assert second_opinion.read(write_batch(records, Envelope(codec=codec))) == records


@pytest.mark.parametrize("codec", second_opinion.CODECS)
@given(records=any_records(timestamps=PLAUSIBLE_MS, has_gaps=False))
def test_we_read_what_kafka_python_writes(codec: Codec, records: list[Record]) -> None:
    expected = [record._replace(offset=offset) for offset, record in enumerate(records)]
    assert read(second_opinion.write(records, 2, codec)) == expected


def test_numbers_of_any_width_are_read() -> None:
    sizes = (0, 1, 63, 64, 8191, 8192, 70_000)
    keys = [bytes(size) for size in sizes]
    records = [Record(2 ** (2 * n), 10 ** (2 * n), key, key[::-1]) for n, key in enumerate(keys, 1)]
    assert read(write_batch(records, Envelope(base_offset=0))) == records


def test_header_keys_that_are_no_text_survive() -> None:
    body = bytes((0, 0, 0, 1, 1)) + VARINTS[1] + VARINTS[2] + b"\xff\xfe" + VARINTS[-1]
    data = record_around(body)
    (record,) = read(data)
    assert bytes(write_batch([record]))[61:] == bytes(data)[61:]


def test_timestamps_wrap_around_as_java_lets_them() -> None:
    records = [Record(0, -(2**63), None, None), Record(1, 2**63 - 1, None, None)]
    assert read(write_batch(records)) == records


def test_an_empty_batch_has_no_records() -> None:
    assert read(batch_around(b"", count=0)) == []


def test_records_beyond_the_limit_are_refused() -> None:
    data = write_batch([Record(0, 0, None, bytes(10_000))], Envelope(codec=Codec.GZIP))
    with pytest.raises(BatchTooLarge):
        list(read_records(Batch(memoryview(data)), limit=10_000))


@pytest.mark.parametrize("count", [-1, -(2**31), 1, 3, 2**31 - 1])
def test_the_count_must_agree_with_what_is_there(count: int) -> None:
    data = bytearray(java_set(2, Codec.NONE))
    pack_into(">i", data, 57, count)
    with pytest.raises(InvalidRecord):
        read(data)


@pytest.mark.parametrize("base_offset", [2**63 - 1, -(2**63)])
def test_offsets_stay_within_64_bits(base_offset: int) -> None:
    data = bytearray(java_set(2, Codec.NONE))
    pack_into(">q", data, 0, base_offset)
    with pytest.raises(InvalidRecord):
        read(data)


NULL, ZERO = VARINTS[-1], VARINTS[0]
START = bytes(3)  # Attributes and both deltas.
BROKEN = {
    "a negative key length": START + VARINTS[-2] + NULL + ZERO,
    "a negative value length": START + NULL + VARINTS[-(2**31)] + ZERO,
    "a key longer than the batch": START + VARINTS[2**31 - 1] + NULL + ZERO,
    "a value longer than the batch": START + NULL + VARINTS[1000] + ZERO,
    "a negative count of headers": START + NULL + NULL + NULL,
    "more headers than bytes": START + NULL + NULL + VARINTS[2**31 - 1],
    "a header without a key": START + NULL + NULL + VARINTS[1] + NULL + NULL,
    "a header with a negative length": START + NULL + NULL + VARINTS[1] + ZERO + VARINTS[-5],
    "a header cut off": START + NULL + NULL + VARINTS[1] + VARINTS[4] + b"h",
    "bytes after the headers": START + NULL + NULL + ZERO + b"x",
    "a timestamp of eleven bytes": b"\0" + b"\xff" * 10 + b"\1" + ZERO + NULL + NULL + ZERO,
    "an offset of six bytes": b"\0\0" + b"\xff" * 5 + b"\1" + NULL + NULL + ZERO,
    "nothing": b"",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_record_that_makes_no_sense_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRecord):
        read(record_around(body))


@pytest.mark.parametrize("length", [-1, 5, 7, 2**31 - 1])
def test_a_record_is_as_long_as_it_says(length: int) -> None:
    body = START + NULL + NULL + ZERO
    assert len(body) == 6
    with pytest.raises(InvalidRecord):
        read(batch_around(VARINTS[length] + body))
