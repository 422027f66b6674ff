"""The markers that end transactions."""

from __future__ import annotations

from struct import pack

import pytest

from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.batch_writer import Envelope, write_batch, write_empty_batch
from odradek.kafka.wire.control import Marker, MarkerType, read_marker, write_marker
from odradek.kafka.wire.records import Record
from tests.kafka.wire.golden_records import LOGS, TRANSACTIONS


def marker_in(key: bytes | None, value: bytes | None) -> Marker | None:
    data = write_batch([Record(0, 0, key, value)], Envelope(is_control=True))
    return read_marker(Batch(memoryview(data)))


def test_commits_and_aborts_of_a_real_coordinator_are_read() -> None:
    markers = [read_marker(b) for b in read_batches(memoryview(TRANSACTIONS)) if b.is_control]
    assert markers == [Marker(MarkerType.COMMIT, 0), Marker(MarkerType.ABORT, 0)]


@pytest.mark.parametrize("name", LOGS)
def test_a_marker_has_the_bytes_of_a_real_one(name: str) -> None:
    for batch in read_batches(memoryview(LOGS[name])):
        if not batch.is_control:
            continue
        marker = read_marker(batch)
        assert marker is not None
        again = write_marker(
            marker,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            now_ms=batch.max_timestamp,
            base_offset=batch.base_offset,
            leader_epoch=batch.leader_epoch,
        )
        assert again == batch.data


def test_markers_of_unknown_kinds_are_skipped() -> None:
    assert marker_in(pack(">hh", 0, 2), b"a new leader") is None


def test_markers_of_later_versions_are_read() -> None:
    key, value = pack(">hhi", 1, 1, 0), pack(">hiq", 2, 7, 0)
    assert marker_in(key, value) == Marker(MarkerType.COMMIT, 7)


def test_a_marker_that_was_cleaned_away_is_none() -> None:
    batch = next(b for b in read_batches(memoryview(TRANSACTIONS)) if b.is_control)
    assert read_marker(Batch(memoryview(write_empty_batch(batch)))) is None


BROKEN = {
    "no key": (None, pack(">hi", 0, 0)),
    "a short key": (b"\0\0\0", pack(">hi", 0, 0)),
    "a negative version": (pack(">hh", -1, 0), pack(">hi", 0, 0)),
    "no value": (pack(">hh", 0, 0), None),
    "a short value": (pack(">hh", 0, 0), b"\0\0\0\0\0"),
    "a value of a negative version": (pack(">hh", 0, 0), pack(">hi", -1, 0)),
}


@pytest.mark.parametrize(("key", "value"), BROKEN.values(), ids=BROKEN)
def test_a_marker_that_makes_no_sense_is_refused(key: bytes | None, value: bytes | None) -> None:
    with pytest.raises(InvalidRecord):
        marker_in(key, value)
