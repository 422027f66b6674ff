"""Batches, written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.batch_writer import (
    Envelope,
    write_batch,
    write_empty_batch,
    write_encoded_batch,
    write_pairs,
)
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.wire.golden_records import JAVA_RECORDS, LOGS, java_set

FULL = Envelope(
    leader_epoch=3,
    codec=Codec.ZSTD,
    producer_id=2**40,
    producer_epoch=4,
    base_sequence=5,
    is_transactional=True,
    append_time_ms=6,
)


def view(data: bytearray) -> Batch:
    batch = Batch(memoryview(data))
    batch.check_crc()
    return batch


def test_an_uncompressed_batch_has_the_bytes_of_javas() -> None:
    assert write_batch(JAVA_RECORDS) == java_set(2, Codec.NONE)


@pytest.mark.parametrize("codec", Codec)
def test_a_compressed_batch_says_and_holds_what_javas_does(codec: Codec) -> None:
    ours, javas = view(write_batch(JAVA_RECORDS, Envelope(codec=codec))), Batch(java_set(2, codec))
    assert Envelope.of(ours) == Envelope.of(javas)
    assert ours.base_timestamp == javas.base_timestamp
    assert ours.max_timestamp == javas.max_timestamp
    assert list(read_records(ours)) == list(read_records(javas))


@pytest.mark.parametrize("name", LOGS)
def test_what_a_broker_wrote_is_written_again_byte_for_byte(name: str) -> None:
    for batch in read_batches(memoryview(LOGS[name])):
        again = write_batch(read_records(batch), Envelope.of(batch))
        if batch.codec is Codec.NONE:
            assert again == batch.data
        else:
            assert list(read_records(view(again))) == list(read_records(batch))


def test_an_envelope_says_all_that_is_beside_the_records() -> None:
    envelope = Envelope.of(view(write_batch(JAVA_RECORDS, FULL)))
    assert envelope == replace(FULL, base_offset=5, last_offset=6)


def test_a_cleaned_batch_keeps_its_offsets() -> None:
    batch = view(write_batch([Record(n, n, b"k", b"v") for n in range(10, 20)]))
    kept = [record for record in read_records(batch) if record.offset in (13, 15)]
    cleaned = view(write_batch(kept, Envelope.of(batch)))
    assert (cleaned.base_offset, cleaned.last_offset, cleaned.record_count) == (10, 19, 2)
    assert list(read_records(cleaned)) == kept


def test_a_delete_horizon_takes_the_place_of_the_base_timestamp() -> None:
    batch = view(write_batch(JAVA_RECORDS, Envelope(delete_horizon_ms=86_400_000)))
    assert batch.delete_horizon_ms == 86_400_000
    assert list(read_records(batch)) == JAVA_RECORDS
    assert batch.max_timestamp == 1001


def test_an_empty_batch_keeps_the_place_and_the_producer() -> None:
    batch = view(write_batch(JAVA_RECORDS, FULL))
    empty = view(write_empty_batch(batch))
    assert len(empty.data) == 61
    assert Envelope.of(empty) == replace(Envelope.of(batch), codec=Codec.NONE)
    assert (empty.base_timestamp, empty.max_timestamp) == (-1, batch.max_timestamp)
    assert list(read_records(empty)) == []


@pytest.mark.parametrize("codec", Codec)
def test_pairs_of_one_time_are_written_as_records_are(codec: Codec) -> None:
    pairs = [(b"k" * (index + 1), None if index % 3 else b"v" * index * 9) for index in range(200)]
    records = [Record(index, 77, key, value) for index, (key, value) in enumerate(pairs)]
    envelope = Envelope(codec=codec, base_sequence=0)
    batch = write_encoded_batch(*write_pairs(pairs), 77, envelope)
    assert batch == write_batch(records, envelope)
