"""What a log does about the files that it finds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.storage.names import INDEXES
from odradek.kafka.storage.recover import Checkpointed
from odradek.kafka.wire.control import MarkerType
from tests.kafka.storage.consistency import check_log
from tests.kafka.storage.disks import MortalDisk, get_file, new_disk, put_file
from tests.kafka.storage.logs import (
    DIRECTORY,
    NOW_MS,
    SMALL,
    batch_of,
    end_transaction,
    new_log,
    open_log,
    put,
    put_batch,
    values_of,
)

UNCLEAN = Checkpointed(is_clean=False)
FIRST = f"{DIRECTORY}/00000000000000000000"


def filled(
    disk: MortalDisk, count: int = 12, *, is_closed: bool = False
) -> dict[int, bytes | None]:
    """A log of some segments, whose process then dies or stops."""
    log = new_log(disk)
    for number in range(count):
        put(log, b"value %d" % number * 8)
    values = values_of(log)
    assert len(log.segments) > 2
    if is_closed:
        log.close(NOW_MS)
    return values


def names(disk: MortalDisk) -> list[str]:
    return disk.list_directory(DIRECTORY)


def test_a_torn_tail_is_cut_and_told() -> None:
    disk = new_disk()
    values = filled(disk)
    path = next(f"{DIRECTORY}/{name}" for name in reversed(names(disk)) if name.endswith(".log"))
    put_file(disk, path, get_file(disk, path)[:-5])
    recovered = open_log(disk, SMALL, UNCLEAN)
    assert values_of(recovered.log) == {offset: values[offset] for offset in range(11)}
    assert any(note.startswith(f"cut {path} at") for note in recovered.notes)
    check_log(recovered.log)


def test_after_a_damaged_batch_all_later_segments_go() -> None:
    disk = new_disk()
    values = filled(disk)
    data = bytearray(get_file(disk, f"{FIRST}.log"))
    data[-3] ^= 1
    put_file(disk, f"{FIRST}.log", bytes(data))
    recovered = open_log(disk, SMALL, UNCLEAN)
    assert len(recovered.log.segments) == 1
    remaining = values_of(recovered.log)
    assert 0 < len(remaining) < 12
    assert remaining.items() <= values.items()


def test_only_what_is_after_the_recovery_point_is_read() -> None:
    disk = new_disk()
    filled(disk)
    recovered = open_log(disk, SMALL, Checkpointed(is_clean=False, recovery_point=11))
    assert len([note for note in recovered.notes if note.startswith("read ")]) == 1


def test_a_clean_log_is_not_read() -> None:
    disk = new_disk()
    values = filled(disk, is_closed=True)
    recovered = open_log(disk)
    assert recovered.notes == []
    assert values_of(recovered.log) == values


@pytest.mark.parametrize("known", [Checkpointed(), UNCLEAN])
def test_a_log_that_nobody_wrote_to_is_left_alone(known: Checkpointed) -> None:
    """There may be thousands, and a start has to look at each."""
    disk = new_disk()
    new_log(disk)
    before, calls = names(disk), disk.calls
    recovered = open_log(disk, SMALL, known)
    assert recovered.notes == []
    assert disk.calls - calls < 20
    assert names(disk) == before
    assert (recovered.log.end_offset, recovered.log.recovery_point) == (0, 0)
    assert put(recovered.log, b"x").first_offset == 0
    check_log(recovered.log)


@pytest.mark.parametrize("is_closed", [True, False])
def test_no_file_stays_open(is_closed: bool) -> None:
    disk = new_disk()
    filled(disk, is_closed=is_closed)
    log = open_log(disk, SMALL, Checkpointed(is_clean=is_closed)).log
    assert len(log.files) == 0


def test_an_empty_log_with_epochs_of_something_is_looked_at() -> None:
    """The file of epochs was synced, and what was appended in them was not."""
    disk = new_disk()
    new_log(disk)
    put_file(disk, f"{DIRECTORY}/leader-epoch-checkpoint", b"0\n1\n7 0\n")
    recovered = open_log(disk, SMALL, UNCLEAN)
    assert recovered.log.epochs.latest == -1


@pytest.mark.parametrize("kind", INDEXES[:2])
@pytest.mark.parametrize("damage", [b"", b"\0" * 24, b"\xff" * 24, b"odd"])
def test_a_damaged_index_is_made_anew(kind: str, damage: bytes) -> None:
    disk = new_disk()
    values = filled(disk, is_closed=True)
    expected = get_file(disk, FIRST + kind)
    put_file(disk, FIRST + kind, damage)
    recovered = open_log(disk, SMALL, Checkpointed(is_clean=False, recovery_point=12))
    assert values_of(recovered.log) == values
    if damage or kind == ".timeindex":
        assert get_file(disk, FIRST + kind) == expected


@pytest.mark.parametrize("damage", [b"\0" * 24, b"\xff" * 24, b"\0\0\0\1\0\0\0\7"])
def test_a_wrong_index_misleads_no_reader(damage: bytes) -> None:
    disk = new_disk()
    values = filled(disk, is_closed=True)
    put_file(disk, f"{FIRST}.index", damage)
    assert values_of(open_log(disk).log) == values


def test_missing_indexes_are_made_anew() -> None:
    disk = new_disk()
    values = filled(disk, is_closed=True)
    before = {name: get_file(disk, f"{DIRECTORY}/{name}") for name in names(disk)}
    for name in names(disk):
        if name.endswith("index"):
            disk.remove(f"{DIRECTORY}/{name}")
    recovered = open_log(disk, SMALL, UNCLEAN)
    assert values_of(recovered.log) == values
    for name in names(disk):
        assert get_file(disk, f"{DIRECTORY}/{name}") == before[name]


def test_aborted_transactions_are_found_again_in_the_log() -> None:
    disk = new_disk()
    log = new_log(disk)
    for sequence in range(5):
        data = batch_of([b"v"], producer_id=1, sequence=sequence, is_transactional=True)
        put_batch(log, data)
        end_transaction(log, 1, MarkerType.ABORT if sequence % 2 else MarkerType.COMMIT)
    log.close(NOW_MS)
    paths = [f"{DIRECTORY}/{name}" for name in names(disk) if name.endswith(".txnindex")]
    before = {path: get_file(disk, path) for path in paths}
    for path in paths:
        disk.remove(path)
    open_log(disk, SMALL, UNCLEAN)
    assert {path: get_file(disk, path) for path in paths} == before


def test_an_index_without_a_log_is_removed() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    put_file(disk, f"{DIRECTORY}/00000000000000000099.index", b"")
    recovered = open_log(disk)
    assert recovered.notes == [f"removed {DIRECTORY}/00000000000000000099.index"]


def test_what_was_to_be_deleted_is_deleted() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    put_file(disk, f"{FIRST}.log.deleted", b"old")
    put_file(disk, f"{DIRECTORY}/leader-epoch-checkpoint.tmp", b"torn")
    open_log(disk)
    assert not [name for name in names(disk) if name.endswith((".deleted", ".tmp"))]


def test_an_unfinished_compaction_is_forgotten() -> None:
    disk = new_disk()
    values = filled(disk, is_closed=True)
    put_file(disk, f"{FIRST}.log.cleaned", b"half")
    put_file(disk, f"{DIRECTORY}/00000000000000000005.log.swap", b"of the same")
    assert values_of(open_log(disk).log) == values
    assert not [name for name in names(disk) if name.endswith((".cleaned", ".swap"))]


def test_a_finished_compaction_is_swapped_in() -> None:
    disk = new_disk()
    values = filled(disk, is_closed=True)
    cleaned = get_file(disk, f"{FIRST}.log")
    put_file(disk, f"{FIRST}.log.swap", cleaned)
    put_file(disk, f"{FIRST}.log", b"not yet cleaned")
    recovered = open_log(disk, SMALL, UNCLEAN)
    assert values_of(recovered.log) == values
    assert f"swapped in {FIRST}.log" in recovered.notes


def test_a_log_that_ends_before_its_start_begins_anew() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    recovered = open_log(disk, SMALL, Checkpointed(start_offset=100))
    log = recovered.log
    assert (log.start_offset, log.end_offset, values_of(log)) == (100, 100, {})
    assert put(log, b"x").first_offset == 100


def test_a_start_offset_inside_a_segment_is_kept() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    log = open_log(disk, SMALL, Checkpointed(start_offset=7, high_watermark=9)).log
    assert (log.start_offset, log.high_watermark) == (7, 9)
    assert min(values_of(log)) == 7


def test_a_high_watermark_beyond_the_end_is_the_end() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    assert open_log(disk, SMALL, Checkpointed(high_watermark=99)).log.high_watermark == 12


def test_torn_epochs_are_read_from_the_batches() -> None:
    disk = new_disk()
    log = new_log(disk)
    for epoch in range(3):
        put(log, b"x", epoch=epoch)
    log.close(NOW_MS)
    put_file(disk, f"{DIRECTORY}/leader-epoch-checkpoint", b"0\n3\n0 ")
    known = Checkpointed(is_clean=False, recovery_point=3)
    assert open_log(disk, SMALL, known).log.epochs.starts == log.epochs.starts


@pytest.mark.parametrize("length", [0, 5, 20, 34, 42])
def test_a_torn_topic_id_is_removed(length: int) -> None:
    """It would be taken for another topic's, or for none at all."""
    disk = new_disk()
    filled(disk)
    whole = b"version: 0\ntopic_id: gw6UraX3R1SdjGyumuqWFw"
    put_file(disk, f"{DIRECTORY}/partition.metadata", whole[:length])
    open_log(disk, SMALL, UNCLEAN)
    assert "partition.metadata" not in names(disk)


def test_stray_snapshots_are_removed_but_for_the_newest() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    put_file(disk, f"{DIRECTORY}/00000000000000000003.snapshot", b"stray")
    log = open_log(disk).log
    kept = [int(name[:20]) for name in names(disk) if name.endswith(".snapshot")]
    assert kept == [*(segment.base_offset for segment in log.segments[1:]), 12]


def test_without_any_snapshot_a_clean_log_knows_no_producer() -> None:
    disk = new_disk()
    filled(disk, is_closed=True)
    for name in names(disk):
        if name.endswith(".snapshot"):
            disk.remove(f"{DIRECTORY}/{name}")
    calls = disk.calls
    log = open_log(disk).log
    assert log.producers.known == {}
    assert disk.calls - calls < 60


def test_what_ended_below_the_high_watermark_is_stable_after_a_crash() -> None:
    disk = new_disk()
    log = new_log(disk)
    put_batch(log, batch_of([b"in"], producer_id=9, is_transactional=True))
    end_transaction(log, 9, MarkerType.COMMIT)
    log.flush(NOW_MS)
    known = Checkpointed(is_clean=False, recovery_point=0, high_watermark=2)
    assert open_log(MortalDisk(disk.storage), SMALL, known).log.last_stable_offset == 2


def test_a_forgotten_segment_of_a_finished_compaction_is_replaced_even_by_nothing() -> None:
    disk = new_disk()
    log = new_log(disk)
    put(log, b"old")
    log.roll(NOW_MS)
    put(log, b"next")
    log.close(NOW_MS)
    put_file(disk, f"{DIRECTORY}/00000000000000000000.txnindex", b"of the old one")
    for kind in ("log", "index", "timeindex"):
        put_file(disk, f"{DIRECTORY}/00000000000000000000.{kind}.swap", b"")
    settings = replace(SMALL, is_compacted=True)
    assert values_of(open_log(disk, settings).log) == {1: b"next"}
    assert "00000000000000000000.txnindex" not in names(disk)
