"""A loss of power at every call to the disk: a prefix remains, and all that was flushed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product

import pytest

from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.recover import Checkpointed
from odradek.kafka.storage.removal import remove_files
from odradek.kafka.storage.replay import apply_to
from odradek.kafka.storage.retention import raise_start_offset, retire_old_segments
from odradek.kafka.storage.snapshots import encode
from odradek.kafka.storage.truncation import truncate_to
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.control import MarkerType
from odradek.simulation.errors import Killed
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import MortalDisk, get_file, new_disk
from tests.kafka.storage.logs import (
    DIRECTORY,
    NOW_MS,
    SMALL,
    WHERE,
    all_records,
    batch_of,
    end_transaction,
    get,
    open_log,
    put,
    put_batch,
    values_of,
)

POINTS = "/data/points"
Story = Callable[["Writer"], Iterator[None]]


@dataclass(slots=True)
class Writer:
    """A process with one log, and what it knows to be written and to be safe."""

    disk: MortalDisk
    log: Log
    written: dict[int, bytes | None] = field(default_factory=dict)
    flushed_end: int = 0
    cut_to: int | None = None  # A truncation that may or may not have happened.

    def put(self, *values: bytes) -> None:
        for number, value in enumerate(values):
            self.written[self.log.end_offset + number] = value
        put(self.log, *values)

    def put_numbered(self, sequence: int, *values: bytes, is_transactional: bool = False) -> None:
        for number, value in enumerate(values):
            self.written[self.log.end_offset + number] = value
        data = batch_of(values, producer_id=9, sequence=sequence, is_transactional=is_transactional)
        put_batch(self.log, data)

    def flush(self) -> None:
        """Flush as a broker does: sync, then write the recovery point down."""
        self.log.flush(NOW_MS)
        checkpoints.write_offsets(self.disk, POINTS, {WHERE: self.log.recovery_point})
        self.flushed_end = self.log.end_offset


def appends_and_rolls(writer: Writer) -> Iterator[None]:
    for number in range(12):
        writer.put(b"value %d" % number * 5, b"x")
        yield
        if number in (4, 9):
            writer.flush()
            yield


def transactions(writer: Writer) -> Iterator[None]:
    for number in range(6):
        writer.put_numbered(2 * number, b"in", b"transaction", is_transactional=True)
        yield
        kind = MarkerType.ABORT if number % 2 else MarkerType.COMMIT
        writer.written[writer.log.end_offset] = None
        end_transaction(writer.log, 9, kind)
        yield
        if number == 2:
            writer.flush()


def truncations(writer: Writer) -> Iterator[None]:
    for number in range(8):
        writer.put(b"old %d" % number * 9)
    writer.flush()
    yield
    writer.cut_to = writer.flushed_end = 3
    checkpoints.write_offsets(writer.disk, POINTS, {WHERE: 3})
    truncate_to(writer.log, 3)
    yield
    for number in range(4):
        put(writer.log, b"new %d" % number * 9, epoch=1)
    yield
    writer.log.flush(NOW_MS)


def retention(writer: Writer) -> Iterator[None]:
    for number in range(12):
        writer.put(b"value %d" % number * 9)
    writer.flush()
    writer.log.raise_high_watermark(12)
    yield
    assert raise_start_offset(writer.log, 9) is None
    for retired in retire_old_segments(writer.log, NOW_MS):
        remove_files(writer.disk, retired.paths)
    yield
    writer.put(b"after")


def appends_during_flushes(writer: Writer) -> Iterator[None]:
    """A flush runs in another thread: the log has grown, and rolled, before it ends."""
    for number in range(10):
        writer.put(b"before %d" % number * 7)
        flush = writer.log.begin_flush()
        writer.put(b"during %d" % number * 7)
        yield
        flush.run()
        writer.log.end_flush(flush, NOW_MS)
        point = writer.log.recovery_point
        checkpoints.write_offsets(writer.disk, POINTS, {WHERE: point})
        writer.flushed_end = flush.end_offset
        yield


STORIES: list[Story] = [
    appends_and_rolls,
    appends_during_flushes,
    transactions,
    truncations,
    retention,
]
SEEDS = range(3)


def run_until(story: Story, seed: int, calls_max: int | None) -> Writer:
    """Run a story on a new disk whose process dies at that call."""
    storage = new_disk(seed).storage
    disk = MortalDisk(storage)
    disk.make_directories(DIRECTORY)
    disk.sync_directory("/data")
    mortal = MortalDisk(storage, calls_max)
    writer: Writer | None = None
    with suppress(Killed):
        writer = Writer(mortal, open_log(mortal).log)
        for _ in story(writer):
            pass
    return writer or Writer(mortal, open_log(MortalDisk(storage)).log)


def restart(writer: Writer) -> tuple[Log, list[str]]:
    """Lose power, and recover."""
    storage = writer.disk.storage
    storage.crash()
    disk = MortalDisk(storage)
    points = checkpoints.read_offsets(disk, POINTS)
    known = Checkpointed(is_clean=False, recovery_point=points.get(WHERE, 0))
    recovered = open_log(disk, SMALL, known)
    return recovered.log, recovered.notes


def calls_of(story: Story) -> int:
    return run_until(story, 0, None).disk.calls


def replayed(log: Log) -> bytes:
    """The producers' state as the log alone tells it."""
    producers = Producers(log.end_offset)
    offset = log.start_offset
    while offset < log.end_offset:
        fetched = get(log, offset)
        assert fetched.data
        for batch in read_batches(memoryview(fetched.data)):
            apply_to(producers, batch)
        offset = fetched.next_offset
    return encode(producers)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_after_a_crash_the_log_is_a_prefix_with_all_that_was_flushed(story: Story) -> None:
    for seed, calls_max in product(SEEDS, range(calls_of(story))):
        writer = run_until(story, seed * 1000 + calls_max, calls_max)
        log, _ = restart(writer)
        check_log(log)
        assert log.end_offset >= writer.flushed_end
        if writer.cut_to is None or log.end_offset <= writer.cut_to:
            check_values(log, writer.written)


def check_values(log: Log, written: dict[int, bytes | None]) -> None:
    records = all_records(log)
    offsets = [record.offset for record in records]
    assert offsets == list(range(log.start_offset, log.end_offset))
    for record in records:
        if record.key is None:  # Else a marker.
            assert record.value == written[record.offset]


@pytest.mark.parametrize("story", [appends_and_rolls, transactions], ids=lambda s: s.__name__)
def test_after_a_crash_the_producers_are_what_the_log_says(story: Story) -> None:
    for calls_max in range(0, calls_of(story), 3):
        log, _ = restart(run_until(story, calls_max, calls_max))
        assert encode(log.producers) == replayed(log)
        path = f"{DIRECTORY}/{log.end_offset:020d}.snapshot"
        if log.end_offset:  # What holds nothing needs none.
            assert get_file(log.files.disk, path) == replayed(log)


def test_after_a_crash_the_log_goes_on() -> None:
    for calls_max in range(0, calls_of(appends_and_rolls), 5):
        log, _ = restart(run_until(appends_and_rolls, calls_max, calls_max))
        end = log.end_offset
        put(log, b"further")
        assert values_of(log)[end] == b"further"
        log.close(NOW_MS)
        reopened = open_log(log.files.disk).log
        assert values_of(reopened)[end] == b"further"
        check_log(reopened)


def test_a_crash_during_recovery_loses_nothing_more() -> None:
    for calls_max in range(40):
        writer = run_until(appends_and_rolls, calls_max, None)
        storage = writer.disk.storage
        storage.crash()
        points = checkpoints.read_offsets(MortalDisk(storage), POINTS)
        known = Checkpointed(is_clean=False, recovery_point=points[WHERE])
        with suppress(Killed):
            open_log(MortalDisk(storage, calls_max), SMALL, known)
        log, _ = restart(writer)
        check_log(log)
        assert log.end_offset >= writer.flushed_end
        check_values(log, writer.written)


def test_what_was_closed_needs_no_recovery() -> None:
    for seed in range(30):
        disk = new_disk(seed)
        disk.make_directories(DIRECTORY)
        writer = Writer(disk, open_log(disk).log)
        for _ in appends_and_rolls(writer):
            pass
        writer.log.close(NOW_MS)
        disk.sync_directory("/data")
        disk.storage.crash()
        recovered = open_log(MortalDisk(disk.storage))
        assert recovered.notes == []
        assert values_of(recovered.log) == writer.written
        check_log(recovered.log)
