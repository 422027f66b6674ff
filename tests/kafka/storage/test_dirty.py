"""Which log is cleaned next, and up to where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.dirty import Dirty, Extent, dirtiest, first_dirty, measure, weigh
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.retention import raise_start_offset
from odradek.kafka.wire.message_set import write_message_set
from odradek.kafka.wire.records import Record
from tests.kafka.storage.cleaning import COMPACTED, clean, dirt, keyed
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import NOW_MS, new_log, put_batch

HALF = replace(COMPACTED, min_cleanable_dirty_ratio=0.5)


def log_of(*timestamps: int) -> Log:
    """A segment of one record for each time, and an empty active one."""
    log = new_log(new_disk(), COMPACTED)
    for timestamp in timestamps:
        put_batch(log, keyed([(b"a", b"1")], timestamp=timestamp))
        log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    return log


@pytest.mark.parametrize(
    ("cleaned_offset", "expected"),
    [(None, (10, False)), (9, (10, True)), (10, (10, False)), (20, (20, False)), (21, (10, True))],
)
def test_a_checkpoint_outside_the_log_is_not_believed(
    cleaned_offset: int | None, expected: tuple[int, bool]
) -> None:
    assert first_dirty(cleaned_offset, 10, 20) == expected


def test_the_segment_with_the_first_uncleanable_offset_is_left_alone() -> None:
    segments = [Extent(0, 100), Extent(10, 200), Extent(20, 400), Extent(30, 0)]
    assert weigh(segments, 0, 30) == (30, 0, 700)
    assert weigh(segments, 10, 30) == (30, 100, 600)
    assert weigh(segments, 10, 20) == (20, 100, 200)
    assert weigh(segments, 10, 29) == (20, 100, 200)
    assert weigh(segments, 15, 30) == (30, 300, 600)  # Partly clean, partly dirty: both.
    assert weigh(segments, 30, 30) == (30, 700, 0)


def test_a_log_is_due_when_more_than_its_ratio_is_dirty() -> None:
    assert not Dirty(0, 1, clean_bytes=50, dirty_bytes=50).is_due(HALF)
    assert Dirty(0, 1, clean_bytes=49, dirty_bytes=51).is_due(HALF)
    assert not Dirty(0, 1, clean_bytes=0, dirty_bytes=0).is_due(HALF)


def test_a_log_that_waited_too_long_is_due_if_there_is_anything_to_clean() -> None:
    assert Dirty(0, 1, clean_bytes=99, dirty_bytes=1, overdue_ms=1).is_due(HALF)
    assert not Dirty(0, 1, clean_bytes=99, dirty_bytes=0, overdue_ms=1).is_due(HALF)


def test_the_dirtiest_is_next() -> None:
    some = [("a", HALF, Dirty(0, 1, 40, 60)), ("b", HALF, Dirty(0, 1, 20, 80))]
    clean_one = ("c", HALF, Dirty(0, 1, 99, 1))
    assert dirtiest([*some, clean_one]) == "b"
    assert dirtiest([clean_one]) is None
    assert dirtiest([]) is None


def test_the_active_segment_and_what_is_above_the_high_watermark_are_left_alone() -> None:
    log = new_log(new_disk(), COMPACTED)
    for _ in range(3):
        put_batch(log, keyed([(b"a", b"1")]))
        log.roll(NOW_MS)
    log.raise_high_watermark(2)
    assert dirt(log).first_uncleanable_offset == 2
    log.raise_high_watermark(3)
    assert dirt(log).first_uncleanable_offset == 3


def test_records_that_are_too_young_are_left_alone() -> None:
    log = log_of(NOW_MS - 300, NOW_MS - 100, NOW_MS - 200)
    log.settings = replace(COMPACTED, min_compaction_lag_ms=150)
    assert dirt(log).first_uncleanable_offset == 1
    assert dirt(log, now_ms=NOW_MS + 50).first_uncleanable_offset == 3
    log.settings = replace(COMPACTED, min_compaction_lag_ms=301)
    assert dirt(log).first_uncleanable_offset == 0
    assert not dirt(log).dirty_bytes


def test_where_records_have_no_time_their_file_has() -> None:
    log = new_log(new_disk(), replace(COMPACTED, min_compaction_lag_ms=100))
    append_as_follower(log, write_message_set([Record(0, -1, b"a", b"1")], 0), NOW_MS)
    log.roll(NOW_MS)
    log.raise_high_watermark(1)
    log.files.disk.set_modified_ms(log.segments[0].path, NOW_MS - 50)
    assert dirt(log).first_uncleanable_offset == 0
    assert dirt(log, now_ms=NOW_MS + 50).first_uncleanable_offset == 1


def test_the_oldest_dirty_record_says_how_late_it_is() -> None:
    log = log_of(NOW_MS - 300, NOW_MS - 100, NOW_MS - 200)
    log.settings = replace(COMPACTED, max_compaction_lag_ms=150)
    assert dirt(log).overdue_ms == 150
    assert dirt(log, 1).overdue_ms == 50
    assert dirt(log, 1, NOW_MS - 60).overdue_ms == 0


def test_a_clean_log_has_nothing_to_clean() -> None:
    log = log_of(NOW_MS, NOW_MS)
    end = clean(log)
    assert end == 2
    assert measure(log, end, NOW_MS) is None
    put_batch(log, keyed([(b"a", b"2")]))
    assert measure(log, end, NOW_MS) is None  # The active segment does not count.
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    dirty = dirt(log, end)
    assert (dirty.first_dirty_offset, dirty.first_uncleanable_offset) == (2, 3)
    assert dirty.clean_bytes == dirty.dirty_bytes


def test_a_checkpoint_that_is_wrong_is_said_to_be() -> None:
    log = log_of(NOW_MS, NOW_MS)
    assert dirt(log, 7).is_reset
    assert dirt(log, 7).first_dirty_offset == 0
    assert raise_start_offset(log, 2) is None
    assert measure(log, 1, NOW_MS) == Dirty(2, 2, 0, 0, is_reset=True)


def test_a_segment_rolls_before_its_records_have_waited_too_long() -> None:
    settings = replace(COMPACTED, max_compaction_lag_ms=1000)
    log = new_log(new_disk(), settings)
    for age_ms in (0, 1000, 1001):
        put_batch(log, keyed([(b"a", b"1")], timestamp=NOW_MS + age_ms))
    assert [segment.base_offset for segment in log.segments] == [0, 2]
