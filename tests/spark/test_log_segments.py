"""Segments are read whole; a torn tail is skipped and told, damage is an error."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record
from odradek.runtime.os_disk import OsDisk
from odradek.spark.log_rows import LOG_TYPES, rows_of_entries
from odradek.spark.log_segments import DamagedSegment, Segment, find_segments, read_segment
from odradek.spark.log_source import LOG_COLUMNS

PARTITION = TopicPartition("t", 0)


def batch(first: int, end: int, envelope: Envelope | None = None) -> bytes:
    records = [Record(n, 1000 + n, b"k", b"v%d" % n) for n in range(first, end)]
    return bytes(write_batch(records, envelope or Envelope()))


def segment(directory: Path, data: bytes, *, is_newest: bool = True) -> Segment:
    path = directory / f"{0:020}.log"
    path.write_bytes(data)
    return Segment(str(path), PARTITION, 0, is_newest)


def offsets(one: Segment, chunk_bytes: int = 8_000_000) -> list[int]:
    return [
        Batch(entry).base_offset
        for entries in read_segment(OsDisk(), one, chunk_bytes=chunk_bytes)
        for entry in entries
    ]


@pytest.mark.parametrize("chunk_bytes", [20, 100, 250, 8_000_000])
def test_all_batches_are_read_whatever_is_read_at_once(tmp_path: Path, chunk_bytes: int) -> None:
    data = batch(0, 1) + batch(1, 50) + batch(50, 53)
    assert offsets(segment(tmp_path, data), chunk_bytes) == [0, 1, 50]


@pytest.mark.parametrize(
    "tail",
    [batch(5, 9)[:-1], batch(5, 9)[:10], bytes(500), batch(5, 9)[:-1] + b"\xff"],
    ids=["cut", "cut in its header", "zeros", "wrong checksum"],
)
def test_a_torn_tail_is_skipped_and_told(
    tmp_path: Path, tail: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    whole = batch(0, 5)
    with caplog.at_level(logging.WARNING):
        assert offsets(segment(tmp_path, whole + tail)) == [0]
    assert f"a torn tail of {len(tail)} bytes from byte {len(whole)} on" in caplog.text


def test_the_same_in_an_older_segment_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    whole = batch(0, 5)
    older = segment(tmp_path, whole + batch(5, 9)[:-1], is_newest=False)
    with pytest.raises(DamagedSegment, match=f"byte {len(whole)} .t-0.") as raised:
        offsets(older)
    assert raised.value.position == len(whole)


def test_segments_are_found_by_partition_and_nothing_else_is(tmp_path: Path) -> None:
    for name in ("a-b-0", "t-1", "gone-0.0123456789abcdef0123456789abcdef-delete", "not a log"):
        (tmp_path / name).mkdir()
    for name in (f"{7:020}.log", f"{0:020}.log", f"{0:020}.index", f"{3:020}.log.cleaned"):
        (tmp_path / "t-1" / name).touch()
    (tmp_path / "a-b-0" / f"{0:020}.log").touch()
    (tmp_path / "meta.properties").touch()
    found = find_segments(OsDisk(), str(tmp_path), None)
    assert [(one.partition, one.base_offset, one.is_newest) for one in found] == [
        (("a-b", 0), 0, True),
        (("t", 1), 0, False),
        (("t", 1), 7, True),
    ]
    assert find_segments(OsDisk(), str(tmp_path), {"a-b"}) == found[:1]


def test_rows_say_what_their_batches_say() -> None:
    numbered = Envelope(
        codec=Codec.LZ4, producer_id=9, producer_epoch=2, base_sequence=40, is_transactional=True
    )
    entries = [memoryview(batch(0, 2)), memoryview(batch(2, 4, numbered))]
    columns = ("offset", "producerId", "producerEpoch", "sequence", "isTransactional", "codec")
    rows = [
        tuple(row.values())
        for made in rows_of_entries(PARTITION, entries, columns)
        for row in made.to_pylist()
    ]
    assert rows == [
        (0, None, None, None, False, "none"),
        (1, None, None, None, False, "none"),
        (2, 9, 2, 40, True, "lz4"),
        (3, 9, 2, 41, True, "lz4"),
    ]


def test_sequences_start_anew_after_the_last_number() -> None:
    late = Envelope(producer_id=1, producer_epoch=0, base_sequence=2**31 - 1)
    (made,) = rows_of_entries(PARTITION, [memoryview(batch(0, 2, late))], ("sequence",))
    assert made.column(0).to_pylist() == [2**31 - 1, 0]


def test_the_columns_are_those_that_spark_is_told_of() -> None:
    assert set(LOG_COLUMNS) == set(LOG_TYPES)


@pytest.mark.parametrize("chunk_bytes", [20, 250, 8_000_000])
def test_entries_lie_in_lent_room_if_there_is_any(tmp_path: Path, chunk_bytes: int) -> None:
    room = memoryview(bytearray(10_000))
    one = segment(tmp_path, batch(0, 1) + batch(1, 50) + batch(50, 53))
    read = read_segment(OsDisk(), one, chunk_bytes=chunk_bytes, lender=lambda size: room[:size])
    found = []
    for entries in read:
        assert all(entry.obj is room.obj for entry in entries)
        found += [Batch(entry).base_offset for entry in entries]
    assert found == [0, 1, 50]
