"""The cleaner's parts by themselves: sketches, the map, groups, transactions, the throttle."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.cleaner_groups import Sized, group_segments
from odradek.kafka.storage.cleaner_transactions import CleanedTransactions
from odradek.kafka.storage.offset_map import OffsetMap
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.sketch import sketch
from odradek.kafka.storage.throttle import Throttle
from odradek.kafka.storage.view import SegmentView
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.batch_writer import Envelope, rewrite_batch, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.storage.cleaning import keyed
from tests.kafka.storage.logs import marker_of

OCTETS = st.none() | st.binary(max_size=200) | st.integers(8180, 16390).map(bytes)
RECORDS = st.lists(
    st.builds(
        Record,
        st.integers(0, 2**31 - 1),
        st.integers(-(2**62), 2**62),
        OCTETS,
        OCTETS,
        st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5))).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


def batch_with(records: list[Record], codec: Codec = Codec.NONE) -> Batch:
    return Batch(memoryview(write_batch(records, Envelope(base_offset=0, codec=codec))))


@settings(deadline=None)
@given(RECORDS, st.sampled_from(Codec), st.data())
def test_a_sketch_knows_keys_tombstones_and_times(
    records: list[Record], codec: Codec, data: st.DataObject
) -> None:
    batch = batch_with(records, codec)
    drawn = sketch(batch)
    assert drawn.keys == [record.key for record in records]
    assert drawn.tombstones == [n for n, record in enumerate(records) if record.value is None]
    numbers = range(len(records))
    times = [drawn.timestamp(number, batch.base_timestamp) for number in numbers]
    assert times == [record.timestamp for record in records]
    kept = data.draw(st.sets(st.sampled_from(numbers), min_size=1).map(sorted))
    chosen = [records[number] for number in kept]
    as_they_are = drawn.runs(kept)
    moved = drawn.moved(kept, [times[number] for number in kept], 77)
    for body, base in ((as_they_are, batch.base_timestamp), (moved, 77)):
        left = rewrite_batch(batch, body, len(kept), 0, base, 0)
        assert list(read_records(Batch(memoryview(left)))) == chosen


@settings(deadline=None)
@given(RECORDS, st.data())
def test_a_sketch_of_anything_is_right_or_refused(
    records: list[Record], data: st.DataObject
) -> None:
    batch = batch_with(records)
    body = bytearray(batch.records)
    position = data.draw(st.integers(0, len(body) - 1))
    body[position] = data.draw(st.integers(0, 255))
    cut = body[: data.draw(st.integers(0, len(body)))]
    for changed in (body, cut):
        other = Batch(memoryview(rewrite_batch(batch, changed, len(records), 0, 0, 0)))
        try:
            keys = sketch(other).keys
        except InvalidRecord:
            continue
        assert len(keys) == len(records)


@pytest.mark.parametrize("count", [-1, 0])
def test_a_batch_without_records_has_no_bytes_for_them(count: int) -> None:
    batch = Batch(memoryview(keyed([(b"a", b"1")])))
    with pytest.raises(InvalidRecord):
        sketch(Batch(memoryview(rewrite_batch(batch, b"x", count, 0, 0, 0))))


def test_a_map_knows_the_newest_batch_of_a_key_and_the_last_record_in_it() -> None:
    newest = OffsetMap(1 << 20, 0)
    newest.add([b"a", b"b", None], 0)
    newest.add([b"a", b"x" * 40], 10)
    assert newest.newest([b"a", b"b", None], 0) == [1]
    assert newest.newest([b"a", b"x" * 40], 10) == [0, 1]
    assert newest.newest([b"a", b"c", b"a"], 10) == [1, 2]
    assert newest.newest([b"x" * 40], 5) == []
    assert newest.newest([b"never seen"], 3) == [0]
    assert len(newest) == 3


def test_a_map_stays_within_its_bytes() -> None:
    newest = OffsetMap(100_000, 0)
    count = 0
    while newest.has_room_for(keys := [b"key %d" % (count * 10 + n) for n in range(10)]):
        newest.add(keys, count)
        count += 1
        assert newest.size <= 100_000
    assert len(newest) > 500
    assert not newest.has_room_for([b"one more"] * 10)


def test_the_first_batch_always_finds_room() -> None:
    assert OffsetMap(1, 0).has_room_for([b"a"] * 1000)


def sized(*sizes: int, offsets: int = 10) -> list[Sized]:
    bases = range(0, offsets * len(sizes), offsets)
    return [
        Sized(SegmentView(Segment("/t-0", base), base + offsets), size, size // 10, size // 20)
        for base, size in zip(bases, sizes, strict=True)
    ]


def bases_of(groups: list[list[SegmentView]]) -> list[list[int]]:
    return [[view.base_offset for view in group] for group in groups]


def test_neighbours_that_fit_into_one_segment_are_a_group() -> None:
    groups = group_segments(sized(40, 60, 1, 200, 30), segment_bytes=100, index_bytes=100)
    assert bases_of(groups) == [[0, 10], [20], [30], [40]]


def test_indexes_must_fit_into_one_too() -> None:
    groups = group_segments(sized(40, 60, 50), segment_bytes=1000, index_bytes=10)
    assert bases_of(groups) == [[0, 10], [20]]


def test_an_index_can_tell_of_two_billion_offsets() -> None:
    far = 2**30
    assert len(group_segments(sized(1, 1, 1, offsets=far), 100, 100)) == 2
    assert len(group_segments(sized(1, 1, 0, offsets=far), 100, 100)) == 1


def transactional(offset: int, producer_id: int = 7) -> Batch:
    batch = Batch(memoryview(keyed([(b"a", b"1")], producer_id=producer_id, is_transactional=True)))
    batch.base_offset = offset
    return batch


def marker(offset: int, kind: MarkerType, producer_id: int = 7) -> Batch:
    batch = Batch(memoryview(marker_of(producer_id, kind)))
    batch.base_offset = offset
    return batch


def test_a_marker_is_needed_while_data_of_its_transaction_was_met() -> None:
    aborted = AbortedTransaction(7, 2, 4, 5)
    transactions = CleanedTransactions([aborted])
    assert not transactions.is_aborted(transactional(0))
    assert transactions.end(marker(1, MarkerType.COMMIT)) == (False, None)
    assert transactions.is_aborted(transactional(2))
    assert not transactions.is_aborted(transactional(3, producer_id=8))
    assert transactions.end(marker(4, MarkerType.ABORT)) == (False, aborted)
    assert transactions.end(marker(5, MarkerType.COMMIT, producer_id=8)) == (False, None)
    assert transactions.end(marker(6, MarkerType.COMMIT)) == (True, None)


def test_an_aborted_transaction_without_data_leaves_no_entry() -> None:
    transactions = CleanedTransactions([AbortedTransaction(7, 2, 4, 5)])
    assert transactions.end(marker(4, MarkerType.ABORT)) == (True, None)
    assert not transactions.is_aborted(transactional(5))


def test_a_throttle_asks_for_as_long_as_it_takes_to_keep_the_rate() -> None:
    throttle = Throttle(1000)
    assert throttle.pause_ms(100, 0) == 0
    assert throttle.pause_ms(100, 50) == 0  # Too early to tell.
    assert throttle.pause_ms(300, 300) == 200
    assert throttle.pause_ms(0, 500) == 0
    assert throttle.pause_ms(2000, 500) == 2000  # All at once: no need to wait and see.
    assert throttle.pause_ms(100, 2900) == 0


def test_an_unlimited_throttle_never_asks_to_wait() -> None:
    throttle = Throttle(1.7976931348623157e308)
    assert [throttle.pause_ms(1 << 30, 1000 * n) for n in range(5)] == [0] * 5
