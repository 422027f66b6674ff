"""What a server holds across its roles, and the window of what was committed last."""

from __future__ import annotations

from odradek.zookeeper.zab.effects import (
    Commit,
    EpochFile,
    InstallSnapshot,
    Log,
    Truncate,
    WriteEpoch,
)
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.window import CommittedLog
from odradek.zookeeper.zab.zxid import counter_of, epoch_of, first_zxid, follows
from tests.zookeeper.zab.conversation import entry, fresh
from tests.zookeeper.zab.ensemble import membership


def test_every_change_to_the_disk_has_the_next_mark() -> None:
    history = fresh()
    history.accept_epoch(1)
    history.log(entry(1))
    history.enter_epoch(1)
    assert history.effects.take() == [
        WriteEpoch(1, EpochFile.ACCEPTED, 1),
        Log(2, [entry(1)]),
        WriteEpoch(3, EpochFile.CURRENT, 1),
    ]


def test_only_the_oldest_of_the_tail_is_committed() -> None:
    history = fresh()
    for zxid in (1, 2, 3):
        history.log(entry(zxid))
    history.effects.take()
    history.commit_through(2)
    assert history.effects.take() == [Commit([entry(1), entry(2)])]
    assert list(history.tail) == [entry(3)]
    assert history.applied_zxid == 2
    assert history.known() == [entry(1), entry(2), entry(3)]


def test_a_truncation_reaches_into_the_tail_and_the_window() -> None:
    history = fresh(0, 0, 3, 1, 2, 3)
    history.log(entry(4))
    history.effects.take()
    history.truncate(2)
    assert history.effects.take() == [Truncate(2, 2)]
    assert (history.last_zxid, history.applied_zxid) == (2, 2)
    assert history.known() == [entry(1), entry(2)]


def test_a_snapshot_takes_the_place_of_everything() -> None:
    history = fresh(0, 0, 3, 3)
    history.log(entry(4))
    history.effects.take()
    history.install(7, 9)
    assert history.effects.take() == [InstallSnapshot(2, 7, 9)]
    assert (history.last_zxid, history.applied_zxid, history.known()) == (9, 9, [])


def test_what_is_logged_behind_a_snapshot_is_cut_before_it_is_installed() -> None:
    history = fresh(0, 0, 9)
    history.install(7, 5)
    assert history.effects.take() == [Truncate(1, 5, for_snapshot=True), InstallSnapshot(2, 7, 5)]


def test_who_entered_an_epoch_has_accepted_it() -> None:
    assert History(membership(3), 0, 4, 0).accepted_epoch == 4


def test_the_window_keeps_the_newest() -> None:
    window = CommittedLog(count_max=2)
    for zxid in (1, 2, 3):
        window.append(entry(zxid))
    assert window.entries() == [entry(2), entry(3)]
    window.cut(2)
    assert window.entries() == [entry(2)]


def test_a_zxid_is_an_epoch_and_a_count() -> None:
    zxid = first_zxid(5) + 3
    assert (epoch_of(zxid), counter_of(zxid)) == (5, 3)
    assert follows(zxid + 1, zxid)
    assert follows(first_zxid(7) + 1, zxid)
    assert not follows(zxid + 2, zxid)
    assert not follows(first_zxid(7) + 2, zxid)
    assert not follows(zxid, zxid)
