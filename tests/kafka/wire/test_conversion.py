"""Old formats to new and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.wire.batch import Batch, cut_entries, read_batches
from odradek.kafka.wire.batch_errors import BatchTooLarge, InvalidRecord, UnsupportedCodec
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.conversion import (
    OVERLONG_ENTRY,
    down_convert,
    message_set_codec,
    up_convert,
)
from odradek.kafka.wire.message_set import read_message, read_message_set, write_message_set
from odradek.kafka.wire.records import NO_TIMESTAMP, Record, read_records
from tests.kafka.wire.any_records import INT64, NO_HEADERS, any_records
from tests.kafka.wire.golden_records import (
    LEGACY,
    LEGACY_CODECS,
    TRANSACTIONS,
    java_records,
    java_set,
)

MAGICS = st.sampled_from([0, 1])


def read_batch(data: bytes | bytearray) -> list[Record]:
    batch = Batch(memoryview(data))
    batch.check_crc()
    return list(read_records(batch))


def read_set(data: bytes | bytearray) -> list[Record]:
    return list(read_message_set(memoryview(data)))


def down(data: bytes | bytearray, magic: int, first_offset: int = 0) -> bytearray:
    return down_convert(memoryview(data), magic, first_offset)


@pytest.mark.parametrize(("magic", "codec"), LEGACY)
def test_what_java_wrote_becomes_what_java_would_write_today(magic: int, codec: Codec) -> None:
    data = up_convert(java_set(magic, codec), Envelope(base_offset=5, codec=codec))
    assert read_batch(data) == java_records(magic)
    if magic == 1 and codec is Codec.NONE:
        assert data == java_set(2, Codec.NONE)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_what_java_writes_today_becomes_what_java_wrote(magic: int, codec: Codec) -> None:
    assert down(bytes(java_set(2, codec)), magic) == java_set(magic, codec)


@given(any_records(headers=NO_HEADERS, has_gaps=False), st.sampled_from(LEGACY_CODECS))
def test_down_and_up_again_is_the_same(records: list[Record], codec: Codec) -> None:
    envelope = Envelope(codec=codec, base_offset=records[0].offset)
    batch = write_batch(records, envelope)
    assert up_convert(memoryview(down(batch, 1)), envelope) == batch


@given(any_records(), MAGICS, st.sampled_from(LEGACY_CODECS))
def test_only_headers_and_the_times_of_magic_0_are_lost(
    records: list[Record], magic: int, codec: Codec
) -> None:
    kept = [record._replace(headers=()) for record in records]
    if magic == 0:
        kept = [record._replace(timestamp=NO_TIMESTAMP) for record in kept]
    assert read_set(down(write_batch(records, Envelope(codec=codec)), magic)) == kept


@given(any_records(), MAGICS, INT64)
def test_the_time_of_the_append_stays(records: list[Record], magic: int, now_ms: int) -> None:
    converted = down(write_batch(records, Envelope(append_time_ms=now_ms)), magic)
    message = read_message(next(cut_entries(memoryview(converted))))
    assert message.is_append_time == (magic == 1)
    assert message.timestamp == (now_ms if magic == 1 else NO_TIMESTAMP)


def test_each_batch_is_converted_by_itself() -> None:
    batches = b"".join(
        write_batch([Record(n, n, b"k", b"v")], Envelope(codec=Codec.GZIP)) for n in range(3)
    )
    assert len(list(cut_entries(memoryview(down(batches, 1))))) == 3


def test_markers_have_no_place_in_message_sets() -> None:
    assert [record.offset for record in read_set(down(TRANSACTIONS, 1))] == [0, 2]


def test_a_set_of_which_nothing_is_left_asks_for_a_larger_one() -> None:
    marker = bytes(list(read_batches(memoryview(TRANSACTIONS)))[1].data)
    assert down(marker, 0) == OVERLONG_ENTRY
    assert down(marker[:-1], 1) == OVERLONG_ENTRY
    assert read_set(OVERLONG_ENTRY) == []
    assert down(b"", 1) == b""


def test_plain_batches_are_cut_at_the_offset_asked_for_and_compressed_ones_are_not() -> None:
    records = [Record(n, n, b"k", b"v") for n in range(10)]
    plain, compressed = write_batch(records), write_batch(records, Envelope(codec=Codec.LZ4))
    assert [record.offset for record in read_set(down(plain, 1, 7))] == [7, 8, 9]
    assert read_set(down(compressed, 1, 7)) == records


def test_what_is_old_enough_stays_as_it_is() -> None:
    old = bytes(java_set(0, Codec.GZIP)) + bytes(java_set(1, Codec.SNAPPY))
    assert down(old, 1, first_offset=100) == old


@pytest.mark.parametrize("codec", LEGACY_CODECS)
def test_magic_1_becomes_magic_0(codec: Codec) -> None:
    converted = down(bytes(java_set(1, codec)), 0)
    assert read_set(converted) == java_records(0)
    assert message_set_codec(memoryview(converted)) is codec


def test_zstd_has_no_place_in_message_sets() -> None:
    with pytest.raises(UnsupportedCodec):
        down(bytes(java_set(2, Codec.ZSTD)), 1)


def test_the_leader_gives_up_converted_records_their_offsets() -> None:
    records = [Record(offset, 0, b"k", b"v") for offset in (0, 0, 17)]
    data = up_convert(memoryview(write_message_set(records, 1)), Envelope(base_offset=100))
    assert [record.offset for record in read_batch(data)] == [100, 101, 102]


def test_several_wrappers_become_one_batch() -> None:
    sets = bytes(java_set(0, Codec.GZIP)) + bytes(java_set(1, Codec.NONE))
    assert message_set_codec(memoryview(sets)) is Codec.GZIP
    data = up_convert(memoryview(sets), Envelope(codec=Codec.ZSTD, append_time_ms=5))
    assert [(r.offset, r.timestamp, r.key) for r in read_batch(data)] == [
        (0, 5, b"k"),
        (1, 5, None),
        (2, 5, b"k"),
        (3, 5, None),
    ]


@pytest.mark.parametrize("data", [b"", bytes(java_set(1, Codec.NONE)[:35])])
def test_a_set_without_a_whole_message_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRecord, match="no whole message"):
        up_convert(memoryview(data), Envelope())


def test_the_limit_holds_for_each_batch() -> None:
    record = Record(0, 0, None, bytes(10_000))
    batch = memoryview(write_batch([record], Envelope(codec=Codec.GZIP)))
    wrapper = memoryview(write_message_set([record], 0, Codec.GZIP))
    with pytest.raises(BatchTooLarge):
        down_convert(batch, 1, 0, limit=9_000)
    with pytest.raises(BatchTooLarge):
        up_convert(wrapper, Envelope(), limit=9_000)
