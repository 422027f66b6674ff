"""The fast way against the plain way, on what brokers send and on what nobody should."""

from __future__ import annotations

from itertools import islice
from random import Random

import pyarrow as pa
import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.kafka.client.fetcher import Fetched
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import PLAIN, Envelope, write_batch, write_empty_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import Marker, MarkerType, write_marker
from odradek.kafka.wire.message_set import write_message_set
from odradek.kafka.wire.messages.fetch import AbortedTransaction
from odradek.kafka.wire.records import Record
from odradek.spark.arrow.columns import TYPES, WITH_HEADERS, WITHOUT_HEADERS
from odradek.spark.arrow.decoder import RUN_BYTES, decode, find_machine
from odradek.spark.arrow.errors import UnreadableBatch
from odradek.spark.arrow.machine import ROOM_BYTES_MAX, machine
from odradek.spark.arrow.selection import select
from tests.kafka.wire.any_records import PLAUSIBLE_MS, any_records
from tests.kafka.wire.hostile_records import hostile_sets
from tests.spark.arrow.both_ways import (
    FOREVER,
    Rows,
    T,
    alone,
    check_agreement,
    fast,
    fetched,
    plain,
    rows_of,
)

CASES = 3_000


def is_read_by_machine(what: Fetched) -> bool:
    """Whether the machine needs no help: message sets and odd UTF-8 it leaves to the reference."""
    if any(run.is_legacy for run in select(what, FOREVER)):
        return False
    try:
        return alone(what) == plain(what)
    except pa.ArrowInvalid:
        return False


def offsets(rows: Rows) -> list[int]:
    return [row["offset"] for row in rows]


def numbered(count: int, first: int = 0) -> list[Record]:
    return [Record(n, 1000 + n, None, b"%d" % n) for n in range(first, first + count)]


def test_the_fast_way_is_taken() -> None:
    assert find_machine() is machine()


@pytest.mark.parametrize("codec", Codec)
def test_a_record_becomes_a_row_of_sparks_kafka_schema(codec: Codec) -> None:
    headers = (("h", b"x"), ("ü", None))
    record = Record(7, 1_700_000_000_123, b"k", b"v", headers)
    (row,) = alone(fetched(write_batch([record], Envelope(codec=codec))))
    assert row == {
        "key": b"k",
        "value": b"v",
        "topic": "orders",
        "partition": 3,
        "offset": 7,
        "timestamp": 1_700_000_000_123_000,
        "timestampType": 0,
        "headers": [{"key": "h", "value": b"x"}, {"key": "ü", "value": None}],
    }


def test_null_and_empty_are_told_apart() -> None:
    rows = alone(fetched(write_batch([Record(0, 0, b"", None), Record(1, 0, None, b"")])))
    assert [(row["key"], row["value"], row["headers"]) for row in rows] == [
        (b"", None, None),
        (None, b"", None),
    ]


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_both_ways_agree_on_whatever_a_producer_sends(data: st.DataObject) -> None:
    records = data.draw(any_records(timestamps=PLAUSIBLE_MS))
    what = fetched(
        write_batch(records, Envelope(codec=data.draw(st.sampled_from(Codec)))),
        start=records[0].offset + data.draw(st.integers(0, 3)),
    )
    end = records[-1].offset + data.draw(st.integers(-3, 1))
    columns = tuple(data.draw(st.lists(st.sampled_from(list(TYPES)), min_size=1, unique=True)))
    assert alone(what, end, columns) == plain(what, end, columns)


def test_both_ways_agree_on_hostile_bytes() -> None:
    read = 0
    for data in islice(hostile_sets(seed=7), CASES):
        rows = check_agreement(data)
        if rows and not isinstance(rows, str):
            read += is_read_by_machine(Fetched(T, 0, data, []))
    assert read > CASES // 50  # Else they are all broken, and nothing is compared.


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 255, 256, 257, 70_000])
def test_values_of_any_size_arrive_whole(size: int) -> None:
    values = [bytes([n]) * size for n in range(1, 20)]
    records = [Record(n, 0, value, value) for n, value in enumerate(values)]
    rows = alone(fetched(write_batch(records)))
    assert [row["key"] for row in rows] == [row["value"] for row in rows] == values


def test_many_batches_become_one_arrow_batch() -> None:
    batches = [write_batch(numbered(10, first)) for first in range(0, 1000, 10)]
    (batch,) = decode(fetched(*batches), FOREVER, ("value", "offset"))
    assert batch.num_rows == 1000
    assert batch.schema.names == ["value", "offset"]


def test_only_offsets_of_the_range_count() -> None:
    what = fetched(*(write_batch(numbered(10, first)) for first in (0, 10, 20)), start=5)
    assert offsets(fast(what, 25)) == list(range(5, 25))


def test_the_time_of_the_append_is_the_time_of_all() -> None:
    rows = fast(fetched(write_batch(numbered(2), Envelope(append_time_ms=5000))))
    assert [(r["timestamp"], r["timestampType"]) for r in rows] == [(5_000_000, 1)] * 2


def test_kinds_of_time_may_alternate() -> None:
    batches = [
        write_batch(numbered(2, 0)),
        write_batch(numbered(2, 2), Envelope(append_time_ms=5000)),
        write_batch(numbered(2, 4)),
    ]
    rows = fast(fetched(*batches))
    assert [(r["offset"], r["timestampType"]) for r in rows] == [
        (0, 0), (1, 0), (2, 1), (3, 1), (4, 0), (5, 0),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("magic", "kind", "time"), [(0, -1, -1000), (1, 0, 1_001_000)], ids=["magic 0", "magic 1"]
)
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.SNAPPY, Codec.LZ4])
def test_messages_of_old_are_read(magic: int, kind: int, time: int, codec: Codec) -> None:
    old = write_message_set(numbered(4), magic, codec)
    rows = fast(fetched(old, write_batch(numbered(2, 4)), start=1))
    assert offsets(rows) == [1, 2, 3, 4, 5]
    assert rows[0]["timestampType"] == kind
    assert rows[0]["timestamp"] == time


def test_markers_and_empty_batches_are_no_rows() -> None:
    marker = write_marker(
        Marker(MarkerType.COMMIT, 0), producer_id=1, producer_epoch=0, now_ms=0, base_offset=2
    )
    empty = write_empty_batch(Batch(memoryview(write_batch(numbered(1, 3)))))
    assert offsets(fast(fetched(write_batch(numbered(2)), marker, empty))) == [0, 1]


def test_aborted_transactions_are_left_out_up_to_their_marker() -> None:
    def data(first: int, producer_id: int) -> bytearray:
        envelope = Envelope(producer_id=producer_id, producer_epoch=0, is_transactional=True)
        return write_batch(numbered(2, first), envelope)

    def marker(offset: int, producer_id: int, kind: MarkerType) -> bytearray:
        return write_marker(
            Marker(kind, 0), producer_id=producer_id, producer_epoch=0, now_ms=0, base_offset=offset
        )

    batches = [
        data(0, 1),
        data(2, 2),
        write_batch(numbered(1, 4), PLAIN),
        marker(5, 1, MarkerType.ABORT),
        marker(6, 2, MarkerType.COMMIT),
        data(7, 1),
        marker(9, 1, MarkerType.COMMIT),
    ]
    aborted = [AbortedTransaction(producer_id=1, first_offset=0)]
    assert offsets(fast(fetched(*batches, aborted=aborted))) == [2, 3, 4, 7, 8]
    assert offsets(fast(fetched(*batches))) == [0, 1, 2, 3, 4, 7, 8]


def test_a_wrong_checksum_names_the_offset_unless_nobody_asks() -> None:
    broken = write_batch(numbered(3, 10))
    broken[-2] ^= 1
    what = fetched(write_batch(numbered(10)), broken)
    with pytest.raises(UnreadableBatch, match="orders-3, batch from offset 10 on: checksum"):
        fast(what)
    rows = [b.num_rows for b in decode(what, FOREVER, WITHOUT_HEADERS, check_crcs=False)]
    assert rows == [13]


def test_a_record_that_lies_about_its_length_names_the_offset() -> None:
    broken = write_batch(numbered(3, 10))
    broken[61] += 2
    broken[17:21] = crc32c(bytes(broken[21:])).to_bytes(4, "big")
    with pytest.raises(UnreadableBatch, match="batch from offset 10 on"):
        fast(fetched(write_batch(numbered(10)), broken))


def test_a_time_beyond_what_spark_can_count_is_refused() -> None:
    with pytest.raises(UnreadableBatch, match=f"offset 0 on: a timestamp of {2**60} ms"):
        fast(fetched(write_batch([Record(0, 2**60, None, b"x")])))


def test_broken_text_in_a_header_is_marked_as_java_marks_it() -> None:
    record = Record(0, 0, None, b"x", (("\udcff", b"y"),))
    (row,) = fast(fetched(write_batch([record])))
    assert row["headers"] == [{"key": "\ufffd", "value": b"y"}]


def test_memory_is_used_again_for_the_next_batch() -> None:
    what = fetched(write_batch([Record(n, 0, None, bytes(1000)) for n in range(1000)]))
    fast(what)
    size = len(machine()._view)
    for _ in range(5):
        assert len(fast(what)) == 1000
    assert len(machine()._view) == size


def lent(data: bytes) -> memoryview:
    room = machine().lend_room(len(data))
    assert room is not None
    room[:] = data
    return room


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.LZ4])
def test_what_lies_in_lent_room_is_decoded_there(codec: Codec) -> None:
    batches = [write_batch(numbered(50, n), Envelope(codec=codec)) for n in (0, 50, 100)]
    elsewhere = fetched(*batches)
    room = lent(bytes(elsewhere.data))
    assert alone(elsewhere._replace(data=room)) == plain(elsewhere)
    assert bytes(room) == elsewhere.data, "what is decoded stays as it came"
    assert alone(elsewhere) == plain(elsewhere), "what lies elsewhere is still copied"


def test_lent_room_is_used_again_and_may_grow() -> None:
    sizes = (40, 3_000, 7, 60_000)
    for count in sizes:
        data = bytes(write_batch(numbered(count)))
        assert offsets(alone(Fetched(T, 0, lent(data), []))) == list(range(count))


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
def test_what_is_much_becomes_several_arrow_batches(codec: Codec) -> None:
    random = Random(1)
    size = RUN_BYTES // 50
    batches = [
        write_batch(
            [Record(n + at, 0, None, random.randbytes(size)) for at in range(20)],
            Envelope(codec=codec),
        )
        for n in range(0, 200, 20)
    ]
    what = fetched(*batches)
    counts, rows = list[int](), Rows()
    for batch in decode(what, FOREVER, WITH_HEADERS):
        counts.append(batch.num_rows)
        rows += rows_of(batch)
    assert rows == plain(what)
    assert counts == [40] * 5, "two batches each: three would be more than is put together"


def test_there_is_no_room_for_what_is_far_too_large() -> None:
    assert machine().lend_room(ROOM_BYTES_MAX + 1) is None


def test_nonsense_in_lent_room_is_refused_as_it_is_elsewhere() -> None:
    for data in islice(hostile_sets(seed=5), 500):
        expected = check_agreement(data)
        assert check_agreement(lent(bytes(data))) == expected
