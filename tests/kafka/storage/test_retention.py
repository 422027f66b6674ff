"""What a log lets go of, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.storage.log import Log
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.removal import remove_files
from odradek.kafka.storage.retention import raise_start_offset, retire_old_segments
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import DIRECTORY, NOW_MS, SMALL, new_log, put, values_of

KEPT = replace(SMALL, retention_ms=-1)


def filled(settings: LogSettings, high_watermark: int = 10) -> Log:
    """Ten segments of one batch each, a second apart, and an empty one."""
    log = new_log(new_disk(), settings)
    for number in range(10):
        put(log, bytes(100), timestamp=NOW_MS + 1000 * number)
        log.roll(NOW_MS)
    log.raise_high_watermark(high_watermark)
    return log


def test_nothing_goes_while_all_may_stay() -> None:
    assert retire_old_segments(filled(KEPT), NOW_MS + 10**12) == []


def test_segments_go_by_the_time_of_their_youngest_record() -> None:
    log = filled(replace(SMALL, retention_ms=5000))
    (retired,) = retire_old_segments(log, NOW_MS + 8500)
    assert log.start_offset == 4
    assert retired.reason == "retention.ms 5000"
    assert min(values_of(log)) == 4


def test_segments_go_by_size_while_enough_remains() -> None:
    log = filled(KEPT)
    size = log.size() // 10
    log.settings = replace(KEPT, retention_bytes=3 * size)
    retire_old_segments(log, NOW_MS)
    assert log.start_offset == 7
    log.settings = replace(KEPT, retention_bytes=3 * size - 1)
    assert retire_old_segments(log, NOW_MS) == []


def test_segments_below_the_start_offset_go_even_if_nothing_is_deleted() -> None:
    log = filled(KEPT)
    log.settings = replace(KEPT, is_deleted=False, is_compacted=True)
    assert raise_start_offset(log, 6) is None
    assert log.start_offset == 6
    retire_old_segments(log, NOW_MS)
    assert log.segments[0].base_offset == 6


def test_nothing_above_the_high_watermark_goes() -> None:
    log = filled(replace(SMALL, retention_ms=0), high_watermark=3)
    retire_old_segments(log, NOW_MS + 10**9)
    assert log.start_offset == 3


def test_an_active_segment_that_is_too_old_gives_way_to_an_empty_one() -> None:
    log = new_log(new_disk(), replace(SMALL, retention_ms=10))
    put(log, b"x")
    log.raise_high_watermark(1)
    retire_old_segments(log, NOW_MS + 11)
    assert (log.start_offset, log.end_offset, len(log.segments)) == (1, 1, 1)
    assert retire_old_segments(log, NOW_MS + 10**9) == []
    put(log, b"y")
    assert values_of(log) == {1: b"y"}


def test_files_keep_another_name_for_a_while() -> None:
    log = filled(replace(SMALL, retention_ms=5000))
    disk = log.files.disk
    (retired,) = retire_old_segments(log, NOW_MS + 8500)
    assert all(path.endswith(".deleted") and disk.exists(path) for path in retired.paths)
    remove_files(disk, retired.paths)
    remove_files(disk, retired.paths)
    assert not [name for name in disk.list_directory(DIRECTORY) if name.endswith(".deleted")]


def test_a_start_offset_above_the_high_watermark_is_refused() -> None:
    log = filled(KEPT, high_watermark=5)
    refusal = raise_start_offset(log, 6)
    assert isinstance(refusal, Refusal)
    assert refusal.code is ErrorCode.OFFSET_OUT_OF_RANGE


def test_epochs_follow_the_start() -> None:
    log = new_log(new_disk(), KEPT)
    for epoch in range(3):
        put(log, b"a", b"b", epoch=epoch)
    log.raise_high_watermark(6)
    raise_start_offset(log, 3)
    assert log.epochs.starts == ((1, 3), (2, 4))


@pytest.mark.parametrize(
    ("settings", "rolls"),
    [
        (replace(SMALL, segment_bytes=250), True),
        (replace(SMALL, segment_bytes=400), False),
        (replace(SMALL, segment_ms=999), True),
        (replace(SMALL, segment_ms=1000), False),
    ],
)
def test_a_segment_is_full_by_size_or_by_the_time_of_its_records(
    settings: LogSettings, rolls: bool
) -> None:
    log = new_log(new_disk(), settings)
    put(log, bytes(100), timestamp=NOW_MS)
    put(log, bytes(100), timestamp=NOW_MS + 1000)
    assert len(log.segments) == (2 if rolls else 1)


def test_a_segment_is_full_when_an_index_is() -> None:
    log = new_log(new_disk(), replace(SMALL, segment_bytes=10**6, segment_index_bytes=24))
    for number in range(10):
        put(log, bytes(120), timestamp=NOW_MS + number)
    assert len(log.segments) > 2
    assert len(values_of(log)) == 10


def test_a_flush_is_due_by_count_or_by_time() -> None:
    log = new_log(new_disk(), replace(SMALL, flush_messages=3, flush_ms=1000))
    log.flush(NOW_MS)
    put(log, b"a", b"b")
    assert not log.is_flush_due(NOW_MS + 999)
    assert log.is_flush_due(NOW_MS + 1000)
    put(log, b"c")
    assert log.is_flush_due(NOW_MS)
    log.flush(NOW_MS)
    assert not log.is_flush_due(NOW_MS + 5000)
