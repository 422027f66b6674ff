"""Who is in sync, and what is committed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.replication.leader import NEVER, Leadership

LAG_MS = 30_000
NOW_MS = 1_000_000


def alive(broker_id: int) -> bool:
    return True


def dead(broker_id: int) -> bool:
    return False


def leading(*isr: int, replicas: tuple[int, ...] = (1, 2, 3), end_offset: int = 0) -> Leadership:
    leadership = Leadership(1, 0, end_offset, replicas)
    leadership.assign(replicas, isr, end_offset, NOW_MS)
    return leadership


def fetched(
    leadership: Leadership, broker_id: int, offset: int, end_offset: int, now_ms: int = NOW_MS
) -> None:
    leadership.followers[broker_id].fetched(offset, 0, end_offset, now_ms)


def watermark(
    leadership: Leadership, end_offset: int, min_isr: int = 1, now_ms: int = NOW_MS
) -> int | None:
    return leadership.high_watermark(end_offset, min_isr, LAG_MS, now_ms, alive)


def test_one_replica_commits_what_it_has() -> None:
    assert watermark(leading(1, replicas=(1,)), 10) == 10


def test_what_all_in_sync_have_is_committed() -> None:
    leadership = leading(1, 2, 3)
    fetched(leadership, 2, 7, 10)
    fetched(leadership, 3, 5, 10)
    assert watermark(leadership, 10) == 5


def test_a_follower_that_has_never_fetched_holds_all_back() -> None:
    leadership = leading(1, 2, 3)
    fetched(leadership, 2, 7, 10)
    assert watermark(leadership, 10) == -1


def test_who_is_out_of_sync_holds_nobody_back() -> None:
    leadership = leading(1, 2)
    fetched(leadership, 2, 10, 10)
    fetched(leadership, 3, 3, 10)
    assert watermark(leadership, 10) == 10


def test_who_has_caught_up_counts_before_it_is_in_sync_if_its_broker_lives() -> None:
    leadership = leading(1, 2)
    fetched(leadership, 2, 10, 10)
    fetched(leadership, 3, 8, 8)
    assert watermark(leadership, 10) == 8
    assert leadership.high_watermark(10, 1, LAG_MS, NOW_MS, dead) == 10


def test_who_is_about_to_be_in_sync_counts() -> None:
    leadership = leading(1, 2)
    fetched(leadership, 2, 10, 10)
    fetched(leadership, 3, 8, 10)
    assert watermark(leadership, 10) == 10
    leadership.ask({1, 2, 3})
    assert watermark(leadership, 10) == 8
    leadership.give_up()
    assert watermark(leadership, 10) == 10


def test_who_is_about_to_leave_counts_until_the_controller_has_said_so() -> None:
    leadership = leading(1, 2, 3)
    fetched(leadership, 2, 10, 10)
    fetched(leadership, 3, 4, 10)
    leadership.ask({1, 2})
    assert watermark(leadership, 10) == 4
    leadership.confirm({1, 2})
    assert watermark(leadership, 10, now_ms=NOW_MS + LAG_MS + 1) == 10


@given(
    st.frozensets(st.sampled_from((2, 3, 4))),
    st.frozensets(st.sampled_from((2, 3, 4))),
    st.lists(st.tuples(st.sampled_from((2, 3, 4)), st.integers(0, 10)), max_size=6),
    st.integers(0, 10),
)
def test_a_watermark_that_is_held_cannot_move(
    isr: frozenset[int], asked: frozenset[int], fetches: list[tuple[int, int]], committed: int
) -> None:
    leadership = leading(1, *isr, replicas=(1, 2, 3, 4))
    leadership.ask({1} | asked)
    for broker_id, offset in fetches:
        fetched(leadership, broker_id, offset, 10)
    if leadership.is_held_at(committed):
        reached = watermark(leadership, 10)
        assert reached is not None and reached <= committed


def test_who_has_more_does_not_hold_the_watermark() -> None:
    leadership = leading(1, 2)
    fetched(leadership, 2, 5, 10)
    assert leadership.is_held_at(5) and not leadership.is_held_at(4)


def test_too_few_in_sync_commit_nothing() -> None:
    leadership = leading(1)
    assert watermark(leadership, 10, min_isr=2) is None


def test_a_follower_joins_once_it_has_all_that_is_committed_and_the_epoch_s_start() -> None:
    leadership = leading(1, 2, end_offset=6)
    fetched(leadership, 3, 5, 10)
    assert not leadership.may_join(3, 4, alive)
    fetched(leadership, 3, 6, 10)
    assert leadership.may_join(3, 4, alive)
    assert not leadership.may_join(3, 7, alive)
    assert not leadership.may_join(3, 4, dead)
    assert not leadership.may_join(2, 0, alive), "it is in sync"
    assert not leadership.may_join(9, 0, alive), "it is no replica"


def test_one_change_is_asked_for_at_a_time() -> None:
    leadership = leading(1, 2)
    fetched(leadership, 3, 10, 10)
    leadership.ask({1, 2, 3})
    assert not leadership.may_join(3, 0, alive)
    assert leadership.out_of_sync(20, NOW_MS + 2 * LAG_MS, LAG_MS) == frozenset()


def test_who_lags_for_too_long_is_out_of_sync() -> None:
    leadership = leading(1, 2, 3)
    fetched(leadership, 2, 10, 10)
    fetched(leadership, 3, 4, 10)
    assert leadership.out_of_sync(10, NOW_MS + LAG_MS, LAG_MS) == frozenset()
    assert leadership.out_of_sync(10, NOW_MS + LAG_MS + 1, LAG_MS) == {3}


def test_who_reads_up_to_the_end_of_its_last_fetch_is_not_late() -> None:
    """Under a steady load nobody is ever at the very end."""
    leadership = leading(1, 2, replicas=(1, 2))
    fetched(leadership, 2, 10, 20, NOW_MS + 40_000)
    fetched(leadership, 2, 20, 30, NOW_MS + 41_000)
    assert leadership.followers[2].caught_up_ms == NOW_MS + 40_000
    assert leadership.out_of_sync(30, NOW_MS + 60_000, LAG_MS) == frozenset()


def test_a_new_leader_gives_those_in_sync_their_time() -> None:
    leadership = leading(1, 2)
    assert leadership.followers[2].caught_up_ms == NOW_MS
    assert leadership.followers[3].caught_up_ms == NEVER


def test_the_same_leader_remembers_how_far_its_followers_are() -> None:
    leadership = leading(1, 2)
    fetched(leadership, 2, 8, 10)
    leadership.assign((1, 2, 4), (1, 2), 10, NOW_MS + 1)
    assert leadership.followers[2].end_offset == 8
    assert set(leadership.followers) == {2, 4}


def test_the_low_watermark_is_that_of_the_living() -> None:
    leadership = leading(1, 2, 3)
    leadership.followers[2].fetched(10, 4, 10, NOW_MS)
    leadership.followers[3].fetched(10, 2, 10, NOW_MS)
    assert leadership.low_watermark(5, alive) == 2
    assert leadership.low_watermark(5, lambda broker_id: broker_id == 2) == 4
    assert leadership.low_watermark(5, dead) == 5
