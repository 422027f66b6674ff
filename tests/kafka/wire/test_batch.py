"""Batches as they lie in a buffer."""

from __future__ import annotations

from struct import pack, pack_into

import pytest

from odradek.kafka.wire.batch import Batch, cut_entries, read_batches
from odradek.kafka.wire.batch_errors import CorruptBatch, UnsupportedCodec
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.wire.golden_records import LIBRDKAFKA, LOGS, TRANSACTIONS, java_set

RECORDS = [Record(0, 1000, b"k", b"v"), Record(1, 1001, None, b"w")]


def batch_of(envelope: Envelope) -> Batch:
    return Batch(memoryview(write_batch(RECORDS, envelope)))


@pytest.mark.parametrize("name", LOGS)
def test_the_logs_of_a_real_broker_are_read_to_their_end(name: str) -> None:
    next_offset = position = 0
    for batch in read_batches(memoryview(LOGS[name])):
        batch.check_crc()
        assert batch.base_offset == next_offset
        assert batch.leader_epoch == 0
        next_offset = batch.last_offset + 1
        position += len(batch.data)
    assert position == len(LOGS[name])


def test_the_header_says_whose_and_what_the_records_are() -> None:
    first, commit, *_ = read_batches(memoryview(TRANSACTIONS))
    assert (first.producer_id, first.producer_epoch, first.base_sequence) == (0, 0, 0)
    assert first.is_transactional
    assert not first.is_control
    assert commit.is_control
    assert commit.last_sequence == -1
    assert first.base_timestamp == first.max_timestamp == 1794725629294
    assert first.delete_horizon_ms is None


def test_the_codec_is_in_the_lowest_bits() -> None:
    codecs = [batch.codec for batch in read_batches(memoryview(LIBRDKAFKA))]
    assert codecs == [Codec.SNAPPY, Codec.LZ4, Codec.ZSTD, Codec.GZIP]


def test_a_codec_that_nobody_knows_is_refused_when_asked_for() -> None:
    data = bytearray(write_batch(RECORDS))
    data[22] = 5
    with pytest.raises(UnsupportedCodec):
        _ = Batch(memoryview(data)).codec


def test_sequences_start_again_after_the_largest() -> None:
    assert batch_of(Envelope(producer_id=1, base_sequence=2**31 - 2)).last_sequence == 2**31 - 1
    assert batch_of(Envelope(producer_id=1, base_sequence=2**31 - 1)).last_sequence == 0
    assert batch_of(Envelope()).last_sequence == -1


def test_a_stamp_leaves_the_checksum_right() -> None:
    buffer = bytearray(java_set(2, Codec.NONE))
    batch = Batch(memoryview(buffer))
    batch.stamp(base_offset=2**40, leader_epoch=7)
    again = Batch(memoryview(buffer))
    again.check_crc()
    assert (again.base_offset, again.last_offset, again.leader_epoch) == (2**40, 2**40 + 1, 7)
    assert (batch.base_offset, batch.leader_epoch) == (2**40, 7)
    assert [record.offset for record in read_records(batch)] == [2**40, 2**40 + 1]


def test_the_time_of_the_append_is_that_of_all_records() -> None:
    buffer = bytearray(java_set(2, Codec.LZ4))
    Batch(memoryview(buffer)).stamp_append_time(9999)
    batch = Batch(memoryview(buffer))
    batch.check_crc()
    assert batch.is_append_time
    assert batch.codec is Codec.LZ4
    assert [record.timestamp for record in read_records(batch)] == [9999, 9999]


def test_a_buffer_that_may_not_be_written_is_not_stamped() -> None:
    with pytest.raises(TypeError):
        Batch(java_set(2, Codec.NONE)).stamp(1, 1)


def test_any_bit_under_the_checksum_is_guarded_by_it() -> None:
    golden = java_set(2, Codec.NONE)
    for position in range(17, len(golden)):
        bent = bytearray(golden)
        bent[position] ^= 0x10
        with pytest.raises(CorruptBatch, match="checksum"):
            Batch(memoryview(bent)).check_crc()


def test_a_set_may_end_inside_a_batch_if_the_reader_says_so() -> None:
    whole = len(list(read_batches(memoryview(TRANSACTIONS))))
    for missing in range(1, 78):
        data = memoryview(TRANSACTIONS)[:-missing]
        assert len(list(read_batches(data, partial_tail=True))) == whole - 1
        with pytest.raises(CorruptBatch, match="no whole batch"):
            list(read_batches(data))


def test_entries_of_all_formats_are_cut_alike() -> None:
    sets = [java_set(magic, Codec.NONE) for magic in (0, 1, 2)]
    entries = list(cut_entries(memoryview(b"".join(sets))))
    assert [entry[16] for entry in entries] == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("length", [-(2**31), -1, 0, 13])
def test_an_entry_shorter_than_any_is_refused(length: int) -> None:
    with pytest.raises(CorruptBatch, match="follow its length"):
        list(cut_entries(memoryview(pack(">qiib", 0, length, 0, 2) + bytes(50))))


@pytest.mark.parametrize("magic", [3, 127, -1])
def test_a_magic_of_the_future_is_refused(magic: int) -> None:
    with pytest.raises(CorruptBatch, match="magic"):
        list(cut_entries(memoryview(pack(">qiib", 0, 100, 0, magic))))


def test_an_announced_size_that_never_comes_costs_nothing() -> None:
    data = memoryview(pack(">qiib", 0, 2**31 - 1, 0, 2) + bytes(100))
    assert list(read_batches(data, partial_tail=True)) == []


@pytest.mark.parametrize("length", [14, 48])
def test_a_batch_without_room_for_its_header_is_refused(length: int) -> None:
    with pytest.raises(CorruptBatch, match="no room"):
        list(read_batches(memoryview(pack(">qiib", 0, length, 0, 2) + bytes(100))))


def test_old_messages_are_no_batches() -> None:
    with pytest.raises(CorruptBatch):
        list(read_batches(java_set(1, Codec.NONE)))


def test_a_batch_is_as_long_as_it_says() -> None:
    data = bytearray(java_set(2, Codec.NONE))
    pack_into(">i", data, 8, len(data) - 11)
    with pytest.raises(CorruptBatch, match="says that"):
        Batch(memoryview(data))
