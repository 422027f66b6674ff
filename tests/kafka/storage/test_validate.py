"""What a leader takes from a producer, what it makes of it, and what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from crc32c import crc32c

from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.settings import DEFAULTS, LogSettings
from odradek.kafka.storage.validate import (
    ERRORS_MAX,
    HELD_MAX,
    OPENED_MAX,
    Accepted,
    Origin,
    validate,
)
from odradek.kafka.wire.batch import CHECKED_FROM, CRC, CRC_POSITION, Batch
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.storage.logs import NOW_MS, batch_of, marker_of
from tests.kafka.wire.golden_records import LEGACY, java_records, java_set

COMPACTED = replace(DEFAULTS, is_compacted=True)
APPEND_TIME = replace(DEFAULTS, is_append_time=True)


def accepted(data: bytes | memoryview, settings: LogSettings = DEFAULTS) -> Accepted:
    found = validate(memoryview(data), settings, NOW_MS)
    assert isinstance(found, Accepted), found
    return found


def refused(data: bytes, settings: LogSettings = DEFAULTS) -> Refusal:
    found = validate(memoryview(data), settings, NOW_MS)
    assert isinstance(found, Refusal)
    return found


def stored(found: Accepted, base_offset: int = 100, leader_epoch: int = 3) -> Batch:
    """The batch as it would be read back."""
    batch = Batch(memoryview(b"".join(found.stamped(base_offset, leader_epoch))))
    batch.check_crc()
    return batch


def changed(data: bytes, position: int, new: bytes) -> bytes:
    """A batch with other bytes, and the checksum that fits them."""
    out = bytearray(data)
    out[position : position + len(new)] = new
    CRC.pack_into(out, CRC_POSITION, crc32c(out[CHECKED_FROM:]))
    return bytes(out)


def test_a_batch_stays_as_it_came_but_for_its_stamp() -> None:
    data = batch_of([b"a", b"b"], codec=Codec.ZSTD)
    batch = stored(accepted(data))
    assert (batch.base_offset, batch.last_offset, batch.leader_epoch) == (100, 101, 3)
    assert batch.data[16:] == data[16:]


def test_a_wrong_checksum_is_corrupt() -> None:
    data = bytearray(batch_of([b"a"]))
    data[-1] ^= 1
    assert refused(bytes(data)).code is ErrorCode.CORRUPT_MESSAGE


@pytest.mark.parametrize("size", [0, 5, 16, 60])
def test_less_than_a_batch_is_invalid(size: int) -> None:
    assert refused(batch_of([b"a"])[:size]).code is ErrorCode.INVALID_RECORD


def test_two_batches_are_refused_but_a_partial_one_is_dropped() -> None:
    data = batch_of([b"a"])
    assert refused(data + data).code is ErrorCode.INVALID_RECORD
    assert len(accepted(data + data[:-1]).batch.data) == len(data)


@pytest.mark.parametrize(
    ("position", "new"),
    [
        (0, (7).to_bytes(8, "big")),  # A base offset.
        (23, (5).to_bytes(4, "big")),  # A last offset that the count does not reach.
        (57, (0).to_bytes(4, "big")),  # No record.
        (57, (-1).to_bytes(4, "big", signed=True)),
        (21, (0x20).to_bytes(2, "big")),  # A control batch.
        (43, (9).to_bytes(8, "big")),  # A producer without a sequence.
    ],
)
def test_a_header_that_no_client_may_send_is_invalid(position: int, new: bytes) -> None:
    data = batch_of([b"a", b"b"])
    assert refused(changed(data, position, new)).code is ErrorCode.INVALID_RECORD


def test_more_records_than_there_is_room_for_are_invalid() -> None:
    data = changed(batch_of([b"a"]), 23, (999).to_bytes(4, "big"))
    assert refused(changed(data, 57, (1000).to_bytes(4, "big"))).code is ErrorCode.INVALID_RECORD


def test_an_unknown_codec_is_unsupported() -> None:
    data = changed(batch_of([b"a"]), 21, (7).to_bytes(2, "big"))
    assert refused(data).code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_a_coordinator_may_write_markers() -> None:
    marker = memoryview(marker_of(1, MarkerType.COMMIT))
    assert isinstance(validate(marker, DEFAULTS, NOW_MS, Origin.COORDINATOR), Accepted)
    assert refused(bytes(marker)).code is ErrorCode.INVALID_RECORD


def test_size_limits_are_kept() -> None:
    data = batch_of([bytes(1000)])
    small = replace(DEFAULTS, max_message_bytes=len(data) - 1)
    assert refused(data, small).code is ErrorCode.MESSAGE_TOO_LARGE
    accepted(data, replace(DEFAULTS, max_message_bytes=len(data)))
    narrow = replace(DEFAULTS, segment_bytes=len(data) - 1)
    assert refused(data, narrow).code is ErrorCode.RECORD_LIST_TOO_LARGE


def test_a_compacted_topic_wants_keys_and_says_which_record_has_none() -> None:
    records = [Record(0, NOW_MS, b"k", b"v"), Record(1, NOW_MS, None, b"v")]
    refusal = refused(bytes(write_batch(records)), COMPACTED)
    assert refusal.code is ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in refusal.record_errors] == [1]
    accepted(batch_of([b"v"], key=b"k"), COMPACTED)


def test_a_timestamp_must_be_within_its_limits() -> None:
    limited = replace(DEFAULTS, timestamp_before_max_ms=1000, timestamp_after_max_ms=10)
    accepted(batch_of([b"v"], timestamp=NOW_MS - 1000), limited)
    accepted(batch_of([b"v"], timestamp=NOW_MS + 10), limited)
    for timestamp in (NOW_MS - 1001, NOW_MS + 11):
        refusal = refused(batch_of([b"v"], timestamp=timestamp), limited)
        assert refusal.code is ErrorCode.INVALID_TIMESTAMP
        assert [error.batch_index for error in refusal.record_errors] == [0]


def test_a_producer_may_not_say_that_it_took_the_append_time() -> None:
    data = bytes(write_batch([Record(0, 5, None, b"")], Envelope(append_time_ms=5)))
    assert refused(data).code is ErrorCode.INVALID_TIMESTAMP


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_append_time_is_given_with_a_new_checksum(codec: Codec) -> None:
    data = batch_of([b"a", b"b"], timestamp=5, codec=codec)
    batch = stored(accepted(data, APPEND_TIME))
    assert batch.is_append_time
    assert [record.timestamp for record in read_records(batch)] == [NOW_MS, NOW_MS]
    assert batch.base_timestamp == 5


def test_append_time_knows_no_limits() -> None:
    settings = replace(APPEND_TIME, timestamp_before_max_ms=1)
    assert stored(accepted(batch_of([b"a"], timestamp=5), settings)).max_timestamp == NOW_MS


@pytest.mark.parametrize("target", list(Codec))
def test_records_are_compressed_as_the_topic_says(target: Codec) -> None:
    data = batch_of([b"a" * 100, b"b"], producer_id=3, sequence=8, codec=Codec.GZIP)
    batch = stored(accepted(data, replace(DEFAULTS, compression=target)))
    assert batch.codec is target
    assert [record.value for record in read_records(batch)] == [b"a" * 100, b"b"]
    assert (batch.producer_id, batch.base_sequence) == (3, 8)


def test_offset_deltas_with_gaps_are_rewritten_where_they_are_seen() -> None:
    records = [Record(0, 1, b"k", b"a"), Record(3, 1, b"k", b"b")]
    data = bytes(write_batch(records, Envelope(last_offset=1)))
    batch = stored(accepted(data, COMPACTED))
    assert [record.offset for record in read_records(batch)] == [100, 101]


@pytest.mark.parametrize(("magic", "codec"), LEGACY)
def test_old_formats_become_one_batch(magic: int, codec: Codec) -> None:
    batch = stored(accepted(java_set(magic, codec)))
    assert batch.codec is codec
    expected = [(r.timestamp, r.key, r.value) for r in java_records(magic)]
    assert [(r.timestamp, r.key, r.value) for r in read_records(batch)] == expected
    assert (batch.base_offset, batch.last_offset) == (100, 101)


def test_old_formats_obey_the_same_rules() -> None:
    data = bytes(java_set(1, Codec.NONE))
    assert refused(data, COMPACTED).code is ErrorCode.INVALID_RECORD
    limited = replace(DEFAULTS, timestamp_before_max_ms=1000)
    assert refused(data, limited).code is ErrorCode.INVALID_TIMESTAMP
    assert (
        refused(data, replace(DEFAULTS, max_message_bytes=50)).code is ErrorCode.MESSAGE_TOO_LARGE
    )
    assert stored(accepted(data, APPEND_TIME)).max_timestamp == NOW_MS


def test_many_records_in_few_bytes_are_looked_at_without_holding_them() -> None:
    records = [b""] * (HELD_MAX + 1)
    data = batch_of(records, codec=Codec.GZIP)
    found = accepted(data, replace(DEFAULTS, compression=Codec.ZSTD))
    assert found.batch.codec is Codec.ZSTD
    assert sum(1 for _ in read_records(found.batch)) == len(records)
    refusal = refused(data, COMPACTED)
    assert refusal.code == ErrorCode.INVALID_RECORD
    assert len(refusal.record_errors) == ERRORS_MAX


def test_more_records_than_anyone_sends_are_not_looked_at() -> None:
    """They would unpack to many times the bytes that a batch may have."""
    count = OPENED_MAX + 100_000
    data = batch_of([b"x"], codec=Codec.GZIP)
    data = changed(data, 57, count.to_bytes(4, "big"))
    data = changed(data, 23, (count - 1).to_bytes(4, "big"))
    refusal = refused(data, COMPACTED)
    assert refusal.code == ErrorCode.INVALID_RECORD
    assert "can be looked at" in refusal.message
