"""Where leaders' epochs began, and where they ended."""

from __future__ import annotations

import pytest

from odradek.kafka.storage.epochs import EpochEnd, EpochStart, LeaderEpochs
from odradek.kafka.storage.errors import CorruptCheckpoint
from tests.kafka.storage.disks import new_disk, put_file


def epochs_of(*starts: tuple[int, int]) -> LeaderEpochs:
    epochs = LeaderEpochs.load(new_disk(), "/data")
    for epoch, start_offset in starts:
        epochs.assign(epoch, start_offset)
    return epochs


def test_an_epoch_begins_once() -> None:
    epochs = epochs_of((1, 0), (1, 5), (3, 10))
    assert epochs.starts == (EpochStart(1, 0), EpochStart(3, 10))


def test_a_new_epoch_at_the_same_offset_replaces_the_empty_one() -> None:
    assert epochs_of((1, 0), (2, 10), (4, 10)).starts == (EpochStart(1, 0), EpochStart(4, 10))


def test_an_epoch_ends_where_the_next_begins() -> None:
    epochs = epochs_of((1, 0), (3, 10), (5, 20))
    assert epochs.end_of(1, 30) == EpochEnd(1, 10)
    assert epochs.end_of(3, 30) == EpochEnd(3, 20)
    assert epochs.end_of(5, 30) == EpochEnd(5, 30)


def test_an_epoch_in_between_ends_with_the_one_before_it() -> None:
    assert epochs_of((1, 0), (3, 10), (5, 20)).end_of(4, 30) == EpochEnd(3, 20)


def test_an_epoch_before_all_ends_where_the_first_begins() -> None:
    assert epochs_of((3, 10), (5, 20)).end_of(2, 30) == EpochEnd(2, 10)


def test_nobody_knows_the_end_of_a_later_epoch() -> None:
    assert epochs_of((3, 10)).end_of(4, 30) == EpochEnd(-1, -1)
    assert epochs_of().end_of(0, 0) == EpochEnd(-1, -1)


def test_an_offset_has_an_epoch() -> None:
    epochs = epochs_of((1, 5), (3, 10))
    assert [epochs.epoch_at(offset) for offset in (4, 5, 9, 10, 99)] == [-1, 1, 1, 3, 3]


def test_truncation_at_the_end_drops_what_began_there() -> None:
    epochs = epochs_of((1, 0), (3, 10), (5, 20))
    epochs.truncate_from(10)
    assert epochs.starts == (EpochStart(1, 0),)


def test_truncation_at_the_start_keeps_the_epoch_of_the_new_start() -> None:
    epochs = epochs_of((1, 0), (3, 10), (5, 20))
    epochs.truncate_before(15)
    assert list(epochs.starts) == [EpochStart(3, 15), EpochStart(5, 20)]
    epochs.truncate_before(20)
    assert list(epochs.starts) == [EpochStart(5, 20)]


def test_epochs_survive_a_restart() -> None:
    disk = new_disk()
    LeaderEpochs.load(disk, "/data").assign(4, 12)
    assert LeaderEpochs.load(disk, "/data").starts == (EpochStart(4, 12),)


@pytest.mark.parametrize("text", ["0", "1\n0\n", "0\n2\n0 0\n", "0\n1\n0 0 0\n", "0\n1\na b\n"])
def test_a_checkpoint_that_makes_no_sense_is_an_error(text: str) -> None:
    disk = new_disk()
    put_file(disk, "/data/leader-epoch-checkpoint", text.encode())
    with pytest.raises(CorruptCheckpoint):
        LeaderEpochs.load(disk, "/data")


def test_an_empty_checkpoint_is_how_apache_begins() -> None:
    disk = new_disk()
    put_file(disk, "/data/leader-epoch-checkpoint", b"")
    assert LeaderEpochs.load(disk, "/data").starts == ()
