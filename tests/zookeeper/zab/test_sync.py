"""Which way a learner is brought up to date: the cases of the original's own test, and more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.wire.codes import PacketType
from odradek.zookeeper.zab.sync import Plan, plan_sync, plan_sync_with_log
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import first_zxid

DIFF, TRUNC, SNAP = PacketType.DIFF, PacketType.TRUNC, PacketType.SNAP


def at(epoch: int, counter: int) -> int:
    return first_zxid(epoch) + counter


def entries(*zxids: int) -> list[Entry]:
    return [Entry(zxid, b"%d" % zxid) for zxid in zxids]


def told(plan: Plan | None) -> tuple[PacketType, int, list[int], int]:
    assert plan is not None
    return plan.opening, plan.zxid, [it.zxid for it in plan.entries], plan.through


@pytest.mark.parametrize(
    ("peer_zxid", "expected"),
    [
        (3, (TRUNC, 1, [], 1)),
        (1, (DIFF, 1, [], 1)),
    ],
)
def test_a_leader_without_a_window_compares_with_where_it_stands(
    peer_zxid: int, expected: tuple[PacketType, int, list[int], int]
) -> None:
    assert told(plan_sync(peer_zxid, [], 1)) == expected
    assert plan_sync(0, [], 1) is None


@pytest.mark.parametrize(
    ("peer_zxid", "expected"),
    [
        (4, (TRUNC, 3, [5], 5)),
        (2, (DIFF, 5, [3, 5], 5)),
        (5, (DIFF, 5, [], 5)),
        (7, (TRUNC, 5, [], 5)),
        (6, (DIFF, 6, [], 6)),
    ],
)
def test_within_the_window_the_learner_gets_what_came_later(
    peer_zxid: int, expected: tuple[PacketType, int, list[int], int]
) -> None:
    assert told(plan_sync(peer_zxid, entries(2, 3, 5), 6)) == expected


@pytest.mark.parametrize(
    ("peer_zxid", "expected"),
    [
        (4, (TRUNC, 3, [5, 6, 7, 8], 8)),
        (3, (DIFF, 8, [5, 6, 7, 8], 8)),
    ],
)
def test_before_the_window_the_log_is_used(
    peer_zxid: int, expected: tuple[PacketType, int, list[int], int]
) -> None:
    window, log = entries(6, 7, 8), entries(2, 3, 5, 6, 7, 8, 9)
    assert plan_sync(peer_zxid, window, 9) is None
    assert told(plan_sync_with_log(peer_zxid, window, 9, log)) == expected


def test_the_log_alone_will_do_and_ends_where_the_leader_stands() -> None:
    log = entries(2, 3, 5, 6, 7, 8)
    assert told(plan_sync_with_log(4, [], 7, log)) == (TRUNC, 3, [5, 6, 7], 7)
    assert told(plan_sync_with_log(2, [], 7, log)) == (DIFF, 7, [3, 5, 6, 7], 7)


def test_a_gap_between_log_and_window_needs_a_snapshot() -> None:
    plan = plan_sync_with_log(3, entries(7, 8), 8, entries(2, 3, 4))
    assert told(plan) == (SNAP, 8, [], 8)


def test_the_zxid_of_an_epoch_names_no_write_so_nothing_is_truncated() -> None:
    window = entries(at(1, 1), at(1, 2))
    log = entries(at(0, 1), at(1, 1), at(1, 2))
    expected = (DIFF, at(1, 2), [at(1, 1), at(1, 2)], at(1, 2))
    assert told(plan_sync_with_log(at(1, 0), window, at(2, 0), log)) == expected
    assert told(plan_sync(at(2, 0), window, at(2, 0))) == (DIFF, at(2, 0), [], at(2, 0))
    assert told(plan_sync(at(3, 0), window, at(2, 0)))[0] is SNAP


def test_a_log_is_not_truncated_across_epochs() -> None:
    log = entries(at(1, 1), at(2, 1), at(2, 2), at(4, 1))
    assert told(plan_sync_with_log(at(3, 1), [], at(6, 0), log))[0] is SNAP
    assert told(plan_sync(at(3, 1), log, at(6, 0)))[0] is SNAP


def test_an_entry_that_is_in_log_and_window_goes_once() -> None:
    window = entries(at(1, 1), at(1, 2), at(1, 1), at(1, 2))
    plan = plan_sync_with_log(at(1, 0), window, at(2, 0), entries(at(0, 1), *map(zxid_of, window)))
    assert told(plan)[2] == [at(1, 1), at(1, 2)]


def zxid_of(entry: Entry) -> int:
    return entry.zxid


@given(
    st.lists(st.integers(1, 30), min_size=1, unique=True).map(sorted),
    st.integers(1, 12),
    st.integers(0, 40),
    st.integers(1, 4),
)
def test_whatever_the_way_the_learner_ends_with_the_leader_s_history(
    counters: list[int], window_count: int, peer_count: int, extra: int
) -> None:
    """A learner shares a prefix of the history and may have more of its epoch than the leader."""
    history = entries(*(at(1, it) for it in range(1, len(counters) + 1)))
    window = history[-window_count:]
    last_zxid = history[-1].zxid
    learner = history + entries(*(at(1, len(history) + it) for it in range(1, extra + 1)))
    learner = learner[:peer_count]
    peer_zxid = learner[-1].zxid if learner else 0
    plan = plan_sync(peer_zxid, window, last_zxid)
    if plan is None:
        log = [it for it in history if it.zxid >= peer_zxid]
        plan = plan_sync_with_log(peer_zxid, window, last_zxid, log)
    match plan.opening:
        case PacketType.SNAP:
            result = history
        case PacketType.TRUNC:
            result = [it for it in learner if it.zxid <= plan.zxid] + list(plan.entries)
        case _:
            result = learner + list(plan.entries)
    assert result == history
    assert plan.through == last_zxid
