"""Which batches a reader gets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.errors import UnexpectedOffset
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.reading import Later, offset_since, read, youngest
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.settings import DEFAULTS
from odradek.kafka.wire.batch import MAGIC_POSITION
from odradek.kafka.wire.batch_errors import CorruptBatch
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.records import Record
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import (
    NOW_MS,
    batch_of,
    get,
    new_log,
    put,
    put_batch,
    records_in,
    values_of,
)
from tests.kafka.wire.golden_records import java_set


@pytest.fixture
def log() -> Log:
    return new_log(new_disk())


def test_an_offset_inside_a_batch_gives_the_whole_batch(log: Log) -> None:
    put(log, b"a", b"b", b"c")
    assert [record.offset for record in records_in(get(log, 1))] == [0, 1, 2]


def test_the_first_batch_comes_whole_however_little_was_asked_for(log: Log) -> None:
    put(log, bytes(200))
    put(log, bytes(200))
    for bytes_max in (0, 1, 100):
        assert [record.offset for record in records_in(get(log, 0, bytes_max))] == [0]


def test_unless_the_answer_has_something_else_already(log: Log) -> None:
    put(log, bytes(200))
    assert read(log, 0, 100, 1, is_first_whole=False) == (b"", 0, (), None, 0)


def test_batches_are_never_cut(log: Log) -> None:
    size = len(batch_of([b"a"]))
    for _ in range(4):
        put(log, b"a")
    for bytes_max in range(size, 4 * size):
        assert len(get(log, 0, bytes_max).data) == bytes_max // size * size


@pytest.mark.parametrize(
    "sizes",
    [[300_000] * 5, [700_000, 100_000, 700_000], [600_000, 10, 10, 600_000], [10, 900_000, 10]],
)
def test_large_batches_come_as_small_ones_do(sizes: list[int]) -> None:
    log, ends = new_log(new_disk(), DEFAULTS), [0]
    for size in sizes:
        put(log, bytes(size))
        ends.append(ends[-1] + len(batch_of([bytes(size)])))
    for bytes_max in (*(end + shift for end in ends[1:] for shift in (-1, 0, 1)), 1 << 20):
        found = get(log, 0, bytes_max)
        count = max(1, sum(end <= bytes_max for end in ends[1:]))
        assert (len(found.data), found.next_offset) == (ends[count], count)
    assert get(log, 1, 1 << 20, upper=2).next_offset == 2


def test_what_was_read_stays_while_more_is_read() -> None:
    log = new_log(new_disk(), DEFAULTS)
    values = [bytes([number]) * 500_000 for number in range(4)]
    for value in values:
        put(log, value)
    found = [get(log, offset, 600_000) for offset in range(4)]
    assert [records_in(each)[0].value for each in found] == values


def test_nothing_at_or_above_the_upper_bound_is_seen(log: Log) -> None:
    for _ in range(4):
        put(log, b"a", b"b")
    assert [record.offset for record in records_in(get(log, 0, upper=4))] == [0, 1, 2, 3]
    assert get(log, 4, upper=4).data == b""


def test_an_offset_outside_of_the_log_is_out_of_range(log: Log) -> None:
    put(log, b"a")
    for offset in (-1, 2):
        refusal = read(log, offset, 100, 1)
        assert isinstance(refusal, Refusal)
        assert refusal.code is ErrorCode.OFFSET_OUT_OF_RANGE
    assert get(log, 1).data == b""


def test_what_memory_does_not_hold_is_read_later() -> None:
    disk = new_disk()
    log = new_log(disk)
    put(log, b"a")
    disk.storage.tree.file(log.segments[0].path).is_cached = False
    later = read(log, 0, 1 << 20, log.end_offset)
    assert isinstance(later, Later)
    assert [record.value for record in records_in(later.run())] == [b"a"]


def test_a_later_reading_sees_the_log_as_it_was(log: Log) -> None:
    put(log, b"a")
    view = log.view(0)
    later = Later(log, view.end, 0)
    put(log, b"b")
    assert later.run()[0] == 1


def test_readers_that_go_on_are_not_searched_for_again(log: Log) -> None:
    for number in range(9):
        put(log, b"value %d" % number)
    first = get(log, 0, 100)
    assert log.segments[0].remembered(first.next_offset) == len(first.data)
    assert records_in(get(log, first.next_offset, 100))[0].offset == first.next_offset


def test_a_reader_at_the_end_of_a_segment_goes_on_in_the_next(log: Log) -> None:
    put(log, b"a")
    get(log, 0)
    log.roll(NOW_MS)
    append_as_follower(log, write_batch([Record(5, NOW_MS, None, b"b")]), NOW_MS)
    assert records_in(get(log, 1))[0].offset == 5


def test_an_offset_is_found_by_time(log: Log) -> None:
    for seconds in (10, 30, 20, 40):
        put(log, b"a" * 90, b"b", timestamp=NOW_MS + seconds)
    found = [offset_since(log, NOW_MS + seconds) for seconds in (5, 15, 25, 35, 45)]
    offsets = [each and not isinstance(each, Later) and each.offset for each in found]
    assert offsets == [0, 2, 2, 6, None]


def test_the_time_of_a_record_inside_a_batch_counts(log: Log) -> None:
    records = [Record(n, NOW_MS + n, None, b"v") for n in range(5)]
    put_batch(log, bytes(write_batch(records, Envelope(codec=Codec.LZ4))))
    assert offset_since(log, NOW_MS + 3) == (3, NOW_MS + 3, 0)


def test_the_youngest_record_is_found(log: Log) -> None:
    assert youngest(log) is None
    for seconds in (10, 50, 50, 20):
        put(log, b"a" * 300, timestamp=NOW_MS + seconds)
    assert len(log.segments) > 1
    assert youngest(log) == (1, NOW_MS + 50, 0)


def test_a_follower_takes_batches_as_they_are(log: Log) -> None:
    records = [Record(5, NOW_MS, None, b"v")]
    data = bytes(write_batch(records, Envelope(leader_epoch=4, last_offset=7)))
    assert append_as_follower(log, data + data[:40], NOW_MS) == 8
    assert get(log, 0).data == data
    assert log.epochs.latest == 4


def test_a_follower_takes_messages_of_old_formats(log: Log) -> None:
    data = bytes(java_set(1, Codec.GZIP))
    assert append_as_follower(log, data, NOW_MS) == 7
    assert get(log, 5).data == data
    assert offset_since(log, 1001) == (6, 1001, -1)


def test_a_follower_refuses_what_does_not_follow(log: Log) -> None:
    data = bytes(write_batch([Record(3, NOW_MS, None, b"v")]))
    append_as_follower(log, data, NOW_MS)
    with pytest.raises(UnexpectedOffset):
        append_as_follower(log, data, NOW_MS)
    damaged = bytearray(write_batch([Record(9, NOW_MS, None, b"v")]))
    damaged[-1] ^= 1
    with pytest.raises(CorruptBatch):
        append_as_follower(log, damaged, NOW_MS)
    whole = write_batch([Record(9, NOW_MS, None, b"v")])
    strange = bytes(whole[:MAGIC_POSITION]) + b"\x07" + bytes(whole[MAGIC_POSITION + 1 :])
    with pytest.raises(CorruptBatch, match="magic 7"):
        append_as_follower(log, bytes(whole) + strange, NOW_MS)
    assert values_of(log) == {3: b"v"}


def test_a_large_batch_is_read_whole() -> None:
    log = new_log(new_disk(), replace(DEFAULTS, max_message_bytes=2 << 20))
    for _ in range(3):
        put(log, bytes(1 << 20))
    assert [len(record.value or b"") for record in records_in(get(log, 1, 10))] == [1 << 20]
