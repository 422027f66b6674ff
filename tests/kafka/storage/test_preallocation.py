"""preallocate: a segment has all its room from the start, and gives back what it did not need."""

from __future__ import annotations

from dataclasses import replace

from odradek.kafka.storage.log import Log
from odradek.kafka.storage.recover import Checkpointed
from odradek.kafka.storage.truncation import truncate_to
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import MortalDisk, new_disk
from tests.kafka.storage.logs import NOW_MS, SMALL, get, new_log, open_log, put, values_of

SETTINGS = replace(SMALL, is_preallocated=True)


def sizes(log: Log) -> list[int]:
    disk = log.files.disk
    with_handles = []
    for segment in log.segments:
        with disk.open(segment.path, read_only=True) as file:
            with_handles.append(file.size())
    return with_handles


def rolled() -> Log:
    log = new_log(new_disk(), SETTINGS)
    put(log, b"first" * 20)
    log.roll(NOW_MS)
    put(log, b"second" * 20)
    return log


def test_a_new_segment_is_as_large_as_it_may_become() -> None:
    log = rolled()
    assert sizes(log)[1] == SETTINGS.segment_bytes
    assert log.size() < 400
    put(log, b"third", b"fourth")
    assert values_of(log) == {0: b"first" * 20, 1: b"second" * 20, 2: b"third", 3: b"fourth"}
    assert get(log, 4).data == b""


def test_a_finished_segment_is_as_large_as_what_it_holds() -> None:
    log = rolled()
    log.roll(NOW_MS)
    put(log, b"third")
    assert sum(sizes(log)[:2]) + SETTINGS.segment_bytes == sum(sizes(log))
    assert sizes(log)[1] < 300
    log.close(NOW_MS)
    assert sum(sizes(log)) == log.size()
    check_log(log)


def test_a_log_that_wakes_goes_on_at_the_end_of_its_file() -> None:
    log = rolled()
    log.sleep()
    put(log, b"third")
    assert sum(sizes(log)) == log.size()
    assert values_of(log)[2] == b"third"


def test_what_a_dead_process_left_preallocated_is_cut() -> None:
    log = rolled()
    known = Checkpointed(is_clean=False)
    recovered = open_log(MortalDisk(log.files.disk.storage), SETTINGS, known)  # type: ignore[attr-defined]
    assert values_of(recovered.log) == values_of(log)
    assert sum(sizes(recovered.log)) == recovered.log.size()
    put(recovered.log, b"third")
    check_log(recovered.log)


def test_a_log_is_cut_inside_a_preallocated_segment() -> None:
    log = rolled()
    put(log, b"third")
    truncate_to(log, 2)
    put(log, b"other")
    assert values_of(log)[2] == b"other"
    check_log(log)
