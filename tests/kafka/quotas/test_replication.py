"""Limits of replication: which replicas they are for, and when the rate is within them again."""

from __future__ import annotations

from odradek.kafka.quotas.rates import PAUSE_MAX_MS, Windows
from odradek.kafka.quotas.replication import UNLIMITED, ReplicationQuota

WINDOWS = Windows(11, 1000)


def quota(limit: int = UNLIMITED) -> ReplicationQuota:
    made = ReplicationQuota(WINDOWS)
    made.limit = limit
    return made


def test_a_star_stands_for_all_replicas_of_a_topic() -> None:
    made = quota()
    assert not made
    made.choose("t", ["*"], 1)
    assert made
    assert made.covers("t", 0) and made.covers("t", 7)
    assert not made.covers("u", 0)


def test_a_broker_looks_for_its_own_among_the_replicas_named() -> None:
    made = quota()
    made.choose("t", ["0:1", "1:2", "2:1"], 1)
    assert [made.covers("t", it) for it in range(3)] == [True, False, True]
    made.choose("t", ["1:2"], 1)
    assert not made


def test_what_a_topic_says_no_longer_does_not_count() -> None:
    made = quota()
    made.choose("t", ["*"], 1)
    made.choose("t", [], 1)
    assert not made.covers("t", 0)


def test_time_counts_from_the_first_byte_but_for_a_window_at_least() -> None:
    made = quota(500)
    made.record(1000, 0)
    assert made.rate(0) == made.rate(1000) == 1000
    assert made.rate(4000) == 250


def test_over_the_limit_one_waits_until_the_rate_is_within_it() -> None:
    made = quota(500)
    assert made.pause_ms(0) == 0
    made.record(1000, 0)
    assert made.pause_ms(1000) == 1000
    assert made.pause_ms(2000) == 0


def test_without_a_limit_bytes_are_counted_and_nobody_waits() -> None:
    made = quota()
    made.record(10**12, 0)
    assert made.pause_ms(0) == 0
    made.limit = 10
    assert made.pause_ms(0) > 0


def test_a_limit_of_nothing_lets_pass_what_comes_first_and_then_nothing() -> None:
    made = quota(0)
    assert made.pause_ms(0) == 0
    made.record(1, 0)
    assert made.pause_ms(5000) == PAUSE_MAX_MS
