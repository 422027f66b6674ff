"""The checkers of the ensemble's worlds, each shown what it must not let pass."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.codes import ServerState
from odradek.zookeeper.zab import effects as fx
from odradek.zookeeper.zab.quorum import Majority
from odradek.zookeeper.zab.window import Entry
from tests.zookeeper.server.ledger import Ledger
from tests.zookeeper.server.witnesses import ROOM, History, check_order
from tests.zookeeper.zab.checkers import Violation

QUORUMS = Majority(frozenset({1, 2, 3}))
EPOCH = 1 << 32
FIRST, SECOND = Entry(EPOCH + 1, b"first"), Entry(EPOCH + 2, b"second")


def begin(ledger: Ledger, id_: int, *entries: Entry, epoch: int = 1) -> None:
    epochs = {fx.EpochFile.ACCEPTED: epoch, fx.EpochFile.CURRENT: epoch}
    ledger.book(id_).begin(0, entries, epochs)


def lead(ledger: Ledger, id_: int, epoch: int = 1, digest: int = 0) -> None:
    serve = fx.Serve(ServerState.LEADING, id_, epoch << 32, epoch)
    ledger.serves(id_, serve, QUORUMS, digest)


@pytest.fixture
def ledger() -> Ledger:
    """Two entries were proposed and are on the disks of two of three servers."""
    ledger = Ledger()
    for id_ in (1, 2):
        begin(ledger, id_, FIRST, SECOND)
    begin(ledger, 3)
    for entry in (FIRST, SECOND):
        ledger.proposed(entry)
    return ledger


def test_what_a_quorum_holds_is_delivered(ledger: Ledger) -> None:
    lead(ledger, 1)
    assert ledger.delivered == [FIRST, SECOND]


def test_an_epoch_has_one_leader(ledger: Ledger) -> None:
    lead(ledger, 1)
    with pytest.raises(Violation, match="1 and 2 lead in epoch 1"):
        lead(ledger, 2)


def test_an_epoch_is_entered_by_a_quorum(ledger: Ledger) -> None:
    with pytest.raises(Violation, match="epoch 2 is established with only"):
        lead(ledger, 1, epoch=2)


def test_a_leader_has_all_that_was_delivered(ledger: Ledger) -> None:
    lead(ledger, 1)
    for id_ in (2, 3):
        ledger.book(id_).epochs[fx.EpochFile.CURRENT] = 2
    with pytest.raises(Violation, match="the leader 3 lacks"):
        lead(ledger, 3, epoch=2)


def test_a_zxid_is_proposed_once(ledger: Ledger) -> None:
    with pytest.raises(Violation, match="two proposals"):
        ledger.proposed(Entry(FIRST.zxid, b"other"))


def test_what_too_few_disks_hold_is_not_delivered(ledger: Ledger) -> None:
    lead(ledger, 1)
    third = Entry(EPOCH + 3, b"third")
    ledger.proposed(third)
    ledger.book(1).write(fx.Log(1, [third]))
    ledger.book(2).write(fx.Log(1, [third]))
    ledger.book(1).done(1)
    with pytest.raises(Violation, match=r"delivered with only \[1\]"):
        ledger.committed(1, third, QUORUMS)
    ledger.book(2).done(1)
    ledger.committed(1, third, QUORUMS)


def test_nothing_is_left_out(ledger: Ledger) -> None:
    lead(ledger, 1)
    fourth = Entry(EPOCH + 4, b"fourth")
    ledger.proposed(fourth)
    with pytest.raises(Violation, match="is delivered after"):
        ledger.committed(1, fourth, QUORUMS)


def test_all_deliver_the_same(ledger: Ledger) -> None:
    lead(ledger, 1)
    with pytest.raises(Violation, match="in place of"):
        ledger.committed(3, SECOND, QUORUMS)


def test_trees_that_have_come_equally_far_are_alike(ledger: Ledger) -> None:
    lead(ledger, 1, digest=7)
    with pytest.raises(Violation, match="differs from another"):
        ledger.applied(2, 8, set(), ())


def test_a_tree_that_came_over_the_wire_must_be_like_them_once_it_is_served(
    ledger: Ledger,
) -> None:
    lead(ledger, 1, digest=7)
    ledger.book(3).write(fx.InstallSnapshot(1, 1, SECOND.zxid))
    ledger.applied(3, 8, set(), ())
    serve = fx.Serve(ServerState.FOLLOWING, 1, SECOND.zxid, 1)
    with pytest.raises(Violation, match="differs from another"):
        ledger.serves(3, serve, QUORUMS, 8)
    ledger.serves(3, serve, QUORUMS, 7)
    with pytest.raises(Violation, match="differs from another"):
        ledger.applied(3, 8, set(), ())


def test_an_ephemeral_has_a_session(ledger: Ledger) -> None:
    lead(ledger, 1)
    ledger.applied(1, 0, {5}, [5])
    with pytest.raises(Violation, match="no sessions"):
        ledger.applied(1, 0, {5}, [6])


def test_a_disk_keeps_what_it_held(ledger: Ledger) -> None:
    with pytest.raises(Violation, match="the disk of 1 lost"):
        begin(ledger, 1, FIRST)


def test_who_was_told_to_forget_may_have_done_so(ledger: Ledger) -> None:
    ledger.book(1).write(fx.Truncate(1, FIRST.zxid))
    begin(ledger, 1, FIRST)


def test_a_promise_about_epochs_is_kept(ledger: Ledger) -> None:
    with pytest.raises(Violation, match="forgot its"):
        begin(ledger, 1, FIRST, SECOND, epoch=0)


def test_a_write_comes_behind_those_that_were_acknowledged_before_it() -> None:
    history = History()
    for path in ("w1-1", "w2-1"):
        history.ask(f"{ROOM}/{path}")
        history.ack(f"{ROOM}/{path}")
    check_order(history, {f"{ROOM}/w1-1": 1, f"{ROOM}/w2-1": 2})
    with pytest.raises(AssertionError, match="before smaller ones were asked for"):
        check_order(history, {f"{ROOM}/w1-1": 2, f"{ROOM}/w2-1": 1})


def test_writes_that_were_under_way_together_may_come_in_any_order() -> None:
    history = History()
    history.ask(f"{ROOM}/w1-1", f"{ROOM}/w2-1")
    history.ack(f"{ROOM}/w1-1", f"{ROOM}/w2-1")
    check_order(history, {f"{ROOM}/w1-1": 2, f"{ROOM}/w2-1": 1})


def test_the_writes_of_one_client_are_done_in_its_order() -> None:
    history = History()
    with pytest.raises(AssertionError, match="the writes of w1 are not in its order"):
        check_order(history, {f"{ROOM}/w1-1": 2, f"{ROOM}/w1-2": 1})
