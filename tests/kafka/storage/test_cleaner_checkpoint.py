"""Up to where each log is clean: written down once it is safe, lowered before it is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.storage.checkpoints import CLEANED_OFFSETS
from odradek.kafka.storage.cleaner_steps import CleanedGroup, Stopped
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import Purpose, TopicPartition
from odradek.kafka.storage.swap import Seal, end_cleaning, swap_in
from odradek.kafka.storage.truncation import truncate_to
from tests.kafka.storage.cleaning import COMPACTED, begin, finish, kept, keyed
from tests.kafka.storage.disks import MortalDisk, get_file, new_disk
from tests.kafka.storage.logs import NOW_MS, put_batch

PATH = f"/data/a/{CLEANED_OFFSETS}"
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def opened(disk: MortalDisk) -> LogDirectory:
    directories = LogDirectories(OpenFiles(disk, 50), lambda topic: COMPACTED, lambda: 0.5)
    directories.open(["/data/a"])
    for _ in directories.load():
        pass
    return directories.online[0]


def filled(directory: LogDirectory) -> Iterator[Log]:
    """Logs of six segments of one record, and an active one with none."""
    for where in (T0, T1):
        log = directory.create(where, COMPACTED, None, lambda: 0.5)
        for number in range(6):
            put_batch(log, keyed([(b"a", b"%d" % number * 30)]))
            log.roll(NOW_MS)
        log.raise_high_watermark(log.end_offset)
        yield log


def cleaned(log: Log) -> Seal:
    seal = finish(log, begin(log))
    assert isinstance(seal, Seal)
    return seal


def test_what_is_clean_is_written_down_and_known_again() -> None:
    disk = new_disk()
    directory = opened(disk)
    for log in list(filled(directory)):
        checkpoint = directory.note_cleaned(log.where, cleaned(log))
        assert checkpoint is not None
        checkpoint.run()
    assert get_file(disk, PATH) == b"0\n2\nt 0 6\nt 1 6\n"
    directory.close(NOW_MS)
    assert opened(disk).cleaned == {T0: 6, T1: 6}


def test_a_log_that_is_cut_before_it_is_noted_is_not_clean() -> None:
    directory = opened(new_disk())
    log, _ = filled(directory)
    seal = cleaned(log)
    truncate_to(log, 4)
    assert directory.note_cleaned(T0, seal) is None
    assert directory.cleaned == {}


def test_a_log_that_is_cut_is_dirty_from_its_active_segment_on() -> None:
    disk = new_disk()
    directory = opened(disk)
    log, other = filled(directory)
    directory.cleaned = {T0: 6, T1: 6}
    directory.truncate({T0: 3, T1: 6})
    assert directory.cleaned == {T0: log.segments[-1].base_offset, T1: 6}
    assert directory.cleaned[T0] <= 3
    assert opened_offsets(disk) == directory.cleaned
    directory.restart(T1, 9)
    assert directory.cleaned[T1] == 6
    directory.restart(T1, 2)
    assert directory.cleaned[T1] == other.start_offset == 2


def opened_offsets(disk: MortalDisk) -> dict[TopicPartition, int]:
    lines = get_file(disk, PATH).decode().splitlines()[2:]
    rows = (line.split(" ") for line in lines)
    return {TopicPartition(topic, int(number)): int(offset) for topic, number, offset in rows}


def test_a_cleaning_does_not_touch_the_successor_of_its_log() -> None:
    disk = new_disk()
    directory = opened(disk)
    log = next(filled(directory))
    cleaning = begin(log)
    steps = list(cleaning.run(disk))
    directory.retire(T0, Purpose.DELETE, "0123456789abcdef" * 2)
    successor = next(filled(directory))
    before = kept(successor)
    for step in steps:
        if isinstance(step, CleanedGroup):
            assert swap_in(log, cleaning, step) is None
        else:
            assert isinstance(end_cleaning(log, cleaning, step), Stopped)
    assert kept(successor) == before


def test_a_log_that_is_gone_is_not_written_down() -> None:
    disk = new_disk()
    directory = opened(disk)
    list(filled(directory))
    directory.cleaned = {T0: 6, T1: 6}
    directory.retire(T0, Purpose.DELETE, "0123456789abcdef" * 2)
    directory.checkpoint(CLEANED_OFFSETS).run()
    assert opened_offsets(disk) == {T1: 6}
