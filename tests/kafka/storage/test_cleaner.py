"""Cleaning: the newest of each key stays, under its offset, and the rest goes in its time."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.cleaner import begin_cleaning
from odradek.kafka.storage.cleaner_steps import CleanedGroup, Finished, Pace, Stopped, Uncleanable
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.reading import Later, offset_since, read, youngest
from odradek.kafka.storage.retention import retire_old_segments
from odradek.kafka.storage.source import Source
from odradek.kafka.storage.swap import Seal, end_cleaning, swap_in
from odradek.kafka.storage.truncation import truncate_to
from odradek.kafka.wire.batch_errors import CorruptBatch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.message_set import read_message_set, write_message_set
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.disk import DiskFull
from tests.kafka.storage.cleaning import (
    COMPACTED,
    all_batches,
    begin,
    clean,
    dirt,
    finish,
    kept,
    keyed,
)
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import get_file, new_disk, put_file
from tests.kafka.storage.logs import (
    DIRECTORY,
    NOW_MS,
    end_transaction,
    get_committed,
    new_log,
    put_batch,
)

DAY_MS = 24 * 60 * 60 * 1000


def new_compacted(**changes: object) -> Log:
    return new_log(new_disk(), replace(COMPACTED, **changes))  # type: ignore[arg-type]


def test_of_each_key_the_newest_record_stays_in_its_place() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"b", b"1"), (b"a", b"2")]))
    put_batch(log, keyed([(b"c", b"1"), (b"a", b"3")]))
    log.roll(NOW_MS)
    put_batch(log, keyed([(b"b", b"active")]))
    assert clean(log) == 5
    assert kept(log) == {
        1: (b"b", b"1"),
        3: (b"c", b"1"),
        4: (b"a", b"3"),
        5: (b"b", b"active"),
    }
    check_log(log)


def test_a_batch_of_which_all_stays_is_copied_as_it_is() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"b", b"1")], codec=Codec.LZ4))
    put_batch(log, keyed([(b"c", b"1")]))
    log.roll(NOW_MS)
    before = get_file(log.files.disk, log.segments[0].path)
    clean(log)
    assert get_file(log.files.disk, log.segments[0].path) == before


@pytest.mark.parametrize("codec", list(Codec))
def test_a_rewritten_batch_keeps_its_codec_its_offsets_and_its_times(codec: Codec) -> None:
    log = new_compacted()
    pairs = [(b"%d" % (n % 7), b"value %d" % n) for n in range(10)]
    put_batch(log, keyed(pairs, codec=codec, producer_id=4, sequence=5))
    log.roll(NOW_MS)
    clean(log)
    (batch,) = all_batches(log)
    batch.check_crc()
    assert (batch.base_offset, batch.last_offset, batch.codec) == (0, 9, codec)
    assert (batch.base_sequence, batch.producer_id) == (5, 4)
    assert batch.base_timestamp == NOW_MS + 3
    assert batch.max_timestamp == NOW_MS + 9
    records = list(read_records(batch))
    assert records == [Record(n, NOW_MS + n, *pairs[n]) for n in range(3, 10)]


def test_a_batch_whose_times_end_early_has_a_lower_largest_time() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"b", b"1")]))
    put_batch(log, keyed([(b"b", b"2")], timestamp=NOW_MS - 100))
    log.roll(NOW_MS)
    clean(log)
    assert [batch.max_timestamp for batch in all_batches(log)] == [NOW_MS, NOW_MS - 100]
    found = youngest(log)
    found = found.run() if isinstance(found, Later) else found
    assert found is not None and (found.offset, found.timestamp) == (0, NOW_MS)


def test_records_without_a_key_go() -> None:
    log = new_compacted(is_compacted=False)
    put_batch(log, keyed([(None, b"1"), (b"a", b"1"), (None, b"2")]))
    log.roll(NOW_MS)
    log.settings = COMPACTED
    clean(log)
    assert kept(log) == {1: (b"a", b"1")}


def test_an_empty_key_is_a_key() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"", b"1"), (b"", b"2")]))
    log.roll(NOW_MS)
    clean(log)
    assert kept(log) == {1: (b"", b"2")}


def test_long_keys_are_told_apart() -> None:
    log = new_compacted(segment_bytes=5000)
    long = b"x" * 200
    put_batch(log, keyed([(long + b"1", b"1"), (long + b"2", b"1"), (long + b"1", b"2")]))
    log.roll(NOW_MS)
    clean(log)
    assert list(kept(log)) == [1, 2]


def test_a_tombstone_stays_until_its_horizon() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"b", b"1")]))
    put_batch(log, keyed([(b"a", None), (b"c", b"1")]))
    log.roll(NOW_MS)
    end = clean(log)
    assert kept(log) == {1: (b"b", b"1"), 2: (b"a", None), 3: (b"c", b"1")}
    horizons = [batch.delete_horizon_ms for batch in all_batches(log)]
    assert horizons == [None, NOW_MS + DAY_MS]
    assert [r.timestamp for r in read_records(all_batches(log)[1])] == [NOW_MS, NOW_MS + 1]

    put_batch(log, keyed([(b"d", b"1")]))
    log.roll(NOW_MS)
    end = clean(log, end, NOW_MS + DAY_MS - 1)
    assert 2 in kept(log)
    assert [batch.delete_horizon_ms for batch in all_batches(log)][1] == NOW_MS + DAY_MS

    put_batch(log, keyed([(b"e", b"1")]))
    log.roll(NOW_MS)
    clean(log, end, NOW_MS + DAY_MS)
    assert kept(log) == {1: (b"b", b"1"), 3: (b"c", b"1"), 4: (b"d", b"1"), 5: (b"e", b"1")}
    check_log(log)


def test_a_tombstone_has_its_horizon_under_the_time_of_the_append_too() -> None:
    log = new_compacted(is_append_time=True)
    put_batch(log, keyed([(b"a", None)], timestamp=5))
    log.roll(NOW_MS)
    clean(log)
    (batch,) = all_batches(log)
    assert (batch.delete_horizon_ms, batch.is_append_time) == (NOW_MS + DAY_MS, True)
    assert [record.timestamp for record in read_records(batch)] == [NOW_MS]


def test_data_of_aborted_transactions_goes_and_supersedes_nothing() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"good")]))
    put_batch(log, keyed([(b"a", b"bad"), (b"b", b"bad")], producer_id=7, is_transactional=True))
    end_transaction(log, 7, MarkerType.ABORT)
    put_batch(log, keyed([(b"c", b"good")], producer_id=7, sequence=2, is_transactional=True))
    end_transaction(log, 7, MarkerType.COMMIT)
    log.roll(NOW_MS)
    clean(log)
    data = {offset: pair for offset, pair in kept(log).items() if offset not in (3, 5)}
    assert data == {0: (b"a", b"good"), 4: (b"c", b"good")}
    assert [batch.base_offset for batch in all_batches(log)] == [0, 3, 4, 5]
    assert [entry.last_offset for entry in get_committed(log, 0).aborted] == [3]


def test_a_marker_goes_once_its_data_is_gone_and_its_horizon_is_past() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"bad")], producer_id=7, is_transactional=True))
    end_transaction(log, 7, MarkerType.ABORT)
    put_batch(log, keyed([(b"x", b"last")], producer_id=7, sequence=1))
    places, now_ms, end = [], NOW_MS, None
    for number in range(4):
        put_batch(log, keyed([(b"dirt", b"%d" % number)]))
        log.roll(NOW_MS)
        end = clean(log, end, now_ms)
        now_ms += DAY_MS
        marker = next((batch for batch in all_batches(log) if batch.is_control), None)
        has_entry = log.files.disk.exists(f"{log.segments[0].path[:-4]}.txnindex")
        places.append((marker and marker.delete_horizon_ms, marker is not None, has_entry))
    assert places == [
        (None, True, True),
        (NOW_MS + 2 * DAY_MS, True, False),
        (None, False, False),
        (None, False, False),
    ]
    check_log(log)


def test_a_marker_of_committed_data_stays_as_long_as_that() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"good")], producer_id=7, is_transactional=True))
    end_transaction(log, 7, MarkerType.COMMIT)
    end = None
    for number in range(3):
        put_batch(log, keyed([(b"dirt", b"%d" % number)]))
        log.roll(NOW_MS)
        end = clean(log, end, NOW_MS + number * 2 * DAY_MS)
    assert [batch.is_control for batch in all_batches(log)][:2] == [False, True]
    assert all_batches(log)[1].delete_horizon_ms is None


def test_a_transaction_that_ends_in_the_active_segment_is_known() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"good")]))
    put_batch(log, keyed([(b"a", b"bad")], producer_id=7, is_transactional=True))
    log.roll(NOW_MS)
    end_transaction(log, 7, MarkerType.ABORT)
    clean(log)
    assert kept(log)[0] == (b"a", b"good")
    assert 1 not in kept(log)


def test_nothing_of_an_open_transaction_is_touched() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1")], producer_id=7, is_transactional=True))
    log.roll(NOW_MS)
    put_batch(log, keyed([(b"a", b"2")]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    assert dirt(log).dirty_bytes == 0
    assert dirt(log).first_uncleanable_offset == 0


def test_the_last_batch_of_a_producer_stays_if_need_be_empty() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"1")], producer_id=3))
    put_batch(log, keyed([(b"a", b"2"), (b"b", b"2")], producer_id=3, sequence=1))
    put_batch(log, keyed([(b"a", b"3"), (b"b", b"3")]))
    log.roll(NOW_MS)
    clean(log)
    batches = all_batches(log)
    assert [(b.base_offset, b.record_count) for b in batches] == [(1, 0), (3, 2)]
    assert (batches[0].producer_id, batches[0].base_sequence, batches[0].last_sequence) == (3, 1, 2)
    log.know_producers(None)
    put_batch(log, keyed([(b"c", b"1")], producer_id=3, sequence=3))


def test_an_expired_producer_leaves_nothing() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"1")], producer_id=3))
    put_batch(log, keyed([(b"a", b"3")]))
    log.roll(NOW_MS)
    log.expire_producers(NOW_MS + 2 * DAY_MS)
    clean(log)
    assert [batch.base_offset for batch in all_batches(log)] == [1]


def test_a_marker_that_is_all_of_a_producer_stays_empty() -> None:
    log = new_compacted(segment_bytes=5000)
    end_transaction(log, 7, MarkerType.COMMIT, epoch=4)
    end = None
    for number in range(3):
        put_batch(log, keyed([(b"dirt", b"%d" % number)]))
        log.roll(NOW_MS)
        end = clean(log, end, NOW_MS + number * 2 * DAY_MS)
    first = all_batches(log)[0]
    assert (first.is_control, first.record_count, first.producer_epoch) == (True, 0, 4)


def test_small_segments_become_one() -> None:
    log = new_compacted()
    for number in range(20):
        put_batch(log, keyed([(b"k%d" % (number % 3), b"x" * 100)]))
    log.roll(NOW_MS)
    segments = len(log.segments)
    end = clean(log)
    put_batch(log, keyed([(b"k1", b"x" * 100)]))
    log.roll(NOW_MS)
    clean(log, end)
    assert segments > 6
    assert len(log.segments) <= 3
    assert list(kept(log)) == [17, 18, 20]
    check_log(log)


def test_a_full_map_cleans_up_to_where_it_got() -> None:
    log = new_compacted(segment_bytes=100_000)
    for number in range(100):
        put_batch(log, keyed([(b"key %d" % (number % 50), b"%d" % number)]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    end, rounds = 0, 0
    while end < 100:
        outcome = finish(log, begin_cleaning(log, dirt(log, end), NOW_MS, map_bytes=4000))
        assert isinstance(outcome, Seal)
        assert end < outcome.end_offset <= 100
        end, rounds = outcome.end_offset, rounds + 1
    assert rounds > 1
    assert sorted(kept(log)) == list(range(50, 100))


def test_what_lies_behind_the_map_stays_as_it_is() -> None:
    log = new_compacted(segment_bytes=100_000)
    put_batch(log, keyed([(b"a", b"1")]))
    put_batch(log, keyed([(b"%d" % n, b"1") for n in range(100)]))
    put_batch(log, keyed([(b"a", b"2"), (b"a", b"3")]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    outcome = finish(log, begin_cleaning(log, dirt(log), NOW_MS, map_bytes=1))
    assert isinstance(outcome, Seal)
    assert outcome.end_offset == 1
    assert len(kept(log)) == 103


def test_messages_of_old_formats_are_cleaned_too() -> None:
    log = new_compacted(segment_bytes=5000)
    for magic, codec in ((0, Codec.NONE), (0, Codec.GZIP), (1, Codec.NONE), (1, Codec.LZ4)):
        first = log.end_offset
        records = [
            Record(first + n, NOW_MS if magic else -1, key, b"%d" % n)
            for n, key in enumerate([b"a", b"b%d" % first, b"a"])
        ]
        append_as_follower(log, write_message_set(records, magic, codec), NOW_MS)
    log.roll(NOW_MS)
    clean(log)
    with_keys = {offset: key for offset, (key, _) in legacy_records(log).items()}
    assert with_keys == {1: b"b0", 4: b"b3", 7: b"b6", 10: b"b9", 11: b"a"}


def legacy_records(log: Log) -> dict[int, tuple[bytes | None, bytes | None]]:
    data = memoryview(get_file(log.files.disk, log.segments[0].path))
    return {record.offset: (record.key, record.value) for record in read_message_set(data)}


def test_an_old_tombstone_goes_once_its_file_is_old() -> None:
    log = new_compacted(segment_bytes=200)
    disk = log.files.disk
    for number, value in enumerate([None, b"x" * 150, b"y" * 150]):
        record = Record(number, NOW_MS, b"k%d" % number, value)
        append_as_follower(log, write_message_set([record], 1), NOW_MS)
    log.roll(NOW_MS)
    for segment, modified_ms in zip(log.segments, (1, 3 * DAY_MS, 3 * DAY_MS), strict=False):
        disk.set_modified_ms(segment.path, modified_ms)
    clean(log)  # All is dirty: there is no clean file to compare with.
    assert disk.modified_ms(log.segments[0].path) == 1
    assert get_file(disk, log.segments[0].path)
    clean(log, 2)
    assert get_file(disk, log.segments[0].path) == b""


def test_what_nobody_can_read_makes_a_log_uncleanable_and_changes_nothing() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"a", b"2")]))
    put_batch(log, keyed([(b"b", b"1"), (b"a", b"2")]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    path = log.segments[0].path
    data = bytearray(get_file(log.files.disk, path))
    data[-3] ^= 1
    put_file(log.files.disk, path, bytes(data))
    outcome = finish(log, begin(log))
    assert isinstance(outcome, Uncleanable)
    assert "checksum" in outcome.reason
    assert get_file(log.files.disk, path) == data
    assert not any(".cleaned" in name for name in log.files.disk.list_directory(DIRECTORY))


@pytest.mark.parametrize("cut", [1, 30, 70])
def test_a_segment_that_is_not_whole_makes_a_log_uncleanable(cut: int) -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"a", b"2")]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    data = get_file(log.files.disk, log.segments[0].path)
    put_file(log.files.disk, log.segments[0].path, data[:-cut])
    assert isinstance(finish(log, begin(log)), Uncleanable)


def test_a_cleaning_can_be_stopped_and_leaves_no_file() -> None:
    log = new_compacted()
    for number in range(20):
        put_batch(log, keyed([(b"a", b"%d" % number * 40)]))
    log.raise_high_watermark(log.end_offset)
    before, cleaning = kept(log), begin(log)
    # Each segment is a look: all are mapped, one is cleaned.
    looks = iter([False] * (len(cleaning.views) + 1) + [True])
    outcome = finish(log, cleaning, Pace(is_stopped=lambda: next(looks)))
    assert isinstance(outcome, Stopped)
    assert not any(".cleaned" in name for name in log.files.disk.list_directory(DIRECTORY))
    assert max(kept(log)) == max(before)
    check_log(log)
    clean(log)


def test_a_cleaning_says_how_much_it_reads_and_writes() -> None:
    log = new_compacted(segment_bytes=1 << 20)
    for number in range(8):
        put_batch(log, keyed([(b"%d" % number, b"x" * 100_000)]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    counts: list[int] = []
    finish(log, begin(log), Pace(wait=counts.append))
    size = log.size()
    assert 2.2 * size < sum(counts) <= 3 * size  # Read twice, written once.
    assert max(counts) < 400_000


def test_a_full_disk_stops_a_cleaning_and_nothing_else() -> None:
    log = new_compacted(segment_bytes=5000)
    put_batch(log, keyed([(b"a", b"1" * 500), (b"b", b"2" * 500)]))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    device = log.files.disk.storage.device  # type: ignore[attr-defined]
    capacity, device.capacity_bytes = device.capacity_bytes, device.used_bytes + 100
    assert isinstance(finish(log, begin(log)), Stopped)
    with pytest.raises(DiskFull):
        put_file(log.files.disk, "/data/large", b"x" * 1000)
    device.capacity_bytes = capacity
    assert clean(log) == 2


def test_a_log_that_was_cut_meanwhile_is_left_as_it_is() -> None:
    log = new_compacted()
    for number in range(10):
        put_batch(log, keyed([(b"a", b"%d" % number * 100)]))
    log.raise_high_watermark(log.end_offset)
    cleaning = begin(log)
    steps = list(cleaning.run(log.files.disk))
    truncate_to(log, 5)
    left = kept(log)
    groups = [step for step in steps if isinstance(step, CleanedGroup)]
    assert [swap_in(log, cleaning, group) for group in groups] == [None] * len(groups)
    finished = steps[-1]
    assert isinstance(finished, Finished)
    assert isinstance(end_cleaning(log, cleaning, finished), Stopped)
    assert kept(log) == left
    assert isinstance(finish(log, cleaning), Stopped)


def test_a_group_that_has_lost_a_segment_is_not_swapped_in_and_the_log_is_not_clean() -> None:
    log = new_compacted(is_deleted=True, retention_bytes=700)
    for number in range(10):
        put_batch(log, keyed([(b"a", b"%d" % number * 100)]))
    log.raise_high_watermark(log.end_offset)
    cleaning = begin(log)
    steps = list(cleaning.run(log.files.disk))
    assert retire_old_segments(log, NOW_MS)
    swapped = [
        swap_in(log, cleaning, step) is not None for step in steps if isinstance(step, CleanedGroup)
    ]
    assert False in swapped
    finished = steps[-1]
    assert isinstance(finished, Finished)
    assert isinstance(end_cleaning(log, cleaning, finished), Stopped)
    check_log(log)


def test_a_reader_that_waited_learns_that_other_files_are_there() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1")]))
    put_batch(log, keyed([(b"a", b"2")]))
    log.roll(NOW_MS)
    later = Later(log, lambda source: 0, 0)
    assert not later.is_outdated
    clean(log)
    assert later.is_outdated
    fetched = read(log, 0, 1000, 2)
    fetched = fetched.run() if isinstance(fetched, Later) else fetched
    assert not isinstance(fetched, Later)
    found = offset_since(log, NOW_MS)
    found = found.run() if isinstance(found, Later) else found
    assert found is not None and found.offset == 1


def test_a_reader_that_finds_nonsense_in_other_files_is_told_to_ask_again() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1")]))

    def misread(source: Source) -> int:
        raise CorruptBatch("this is the middle of another batch")

    later = Later(log, misread, 0)
    with pytest.raises(CorruptBatch):
        later.run()
    log.swaps_count += 1
    with pytest.raises(FileNotFoundError):
        later.run()


def test_a_cleaning_can_go_to_another_process() -> None:
    log = new_compacted()
    put_batch(log, keyed([(b"a", b"1"), (b"a", b"2")], producer_id=3))
    log.roll(NOW_MS)
    log.raise_high_watermark(log.end_offset)
    cleaning = begin(log)
    there = pickle.loads(pickle.dumps(cleaning))
    steps = pickle.loads(pickle.dumps(list(there.run(log.files.disk))))
    assert swap_in(log, cleaning, steps[0]) is not None
    sealed = end_cleaning(log, cleaning, steps[1])
    assert isinstance(sealed, Seal) and sealed.end_offset == 2
    assert list(kept(log)) == [1]
