"""What is used of limits, and by whom."""

from __future__ import annotations

from odradek.kafka.admin.entities import Entity
from odradek.kafka.quotas.addresses import AddressQuota
from odradek.kafka.quotas.bucket import TokenBucket
from odradek.kafka.quotas.limits import Owner
from odradek.kafka.quotas.rates import Rate, Windows
from odradek.kafka.quotas.shares import KEPT_MIN, BurstQuota, RateQuota, Uses

WINDOWS = Windows(11, 1000)
PRODUCED, MUTATED = "producer_byte_rate", "controller_mutation_rate"


def rate_quota(entity: Entity, limit: float, pause_max_ms: int = 10**9) -> RateQuota:
    quota = RateQuota(PRODUCED, WINDOWS, pause_max_ms)
    quota.limits.put(entity, {PRODUCED: str(limit)})
    return quota


def burst_quota(limit: float) -> BurstQuota:
    quota = BurstQuota(MUTATED, WINDOWS)
    quota.limits.put(Entity(user="u"), {MUTATED: str(limit)})
    return quota


def test_clients_of_one_user_share_its_limit() -> None:
    quota = rate_quota(Entity(user="u"), 100)
    assert quota.charge("u", "a", 1000, 0) == 0
    assert quota.charge("u", "b", 1000, 0) == 10_000
    assert quota.charge("other", "a", 1000, 0) == 0


def test_each_has_what_anybody_has_for_itself() -> None:
    quota = rate_quota(Entity(client_id=None), 100)
    assert quota.charge("u", "a", 1000, 0) == 0
    assert quota.charge("u", "b", 1000, 0) == 0
    assert quota.charge("u", "b", 1000, 0) == 10_000


def test_a_new_limit_counts_what_was_used_before() -> None:
    quota = rate_quota(Entity(user="u"), 100)
    assert quota.charge("u", "a", 1000, 0) == 0
    quota.limits.put(Entity(user="u"), {PRODUCED: "50"})
    assert quota.charge("u", "a", 0, 0) == 10_000


def test_a_pause_may_have_an_end() -> None:
    quota = rate_quota(Entity(user="u"), 100, pause_max_ms=1000)
    assert quota.charge("u", "a", 10**9, 0) == 1000


def test_what_is_given_back_is_not_used() -> None:
    quota = rate_quota(Entity(user="u"), 100)
    assert quota.charge("u", "a", 5000, 0) > 0
    quota.refund("u", "a", 5000, 0)
    assert quota.charge("u", "a", 1000, 0) == 0


def test_no_answer_is_larger_than_all_windows_but_one() -> None:
    quota = rate_quota(Entity(user="u"), 100)
    assert quota.most("u", "a") == 1000
    assert quota.most("other", "a") is None


def test_everybodys_rate_can_be_told() -> None:
    quota = rate_quota(Entity(user="u"), 100)
    quota.charge("u", "a", 1000, 0)
    quota.charge("other", "a", 1000, 0)
    assert quota.rates(0) == {Owner("u", ""): 100}
    assert quota.rates(20_000) == {Owner("u", ""): 0}


def test_a_burst_may_come_and_the_next_must_wait() -> None:
    quota = burst_quota(2)
    assert quota.charge("u", "a", 30, 0, is_strict=True) == 0  # 22 were there.
    assert quota.charge("u", "a", 1, 0, is_strict=True) == 4000
    assert quota.charge("u", "a", 1, 3999, is_strict=True) > 0
    assert quota.charge("u", "a", 1, 4000, is_strict=True) == 0


def test_who_knows_no_refusal_is_served_and_held_back() -> None:
    quota = burst_quota(2)
    assert quota.charge("u", "a", 22, 0, is_strict=False) == 0
    assert quota.charge("u", "a", 10, 0, is_strict=False) == 5000
    assert quota.charge("u", "a", 10, 0, is_strict=False) == 10_000


def test_a_bucket_is_never_fuller_than_full() -> None:
    bucket = TokenBucket()
    bucket.take(1, 2, WINDOWS, 0)
    bucket.take(23, 2, WINDOWS, 10**9)
    assert bucket.pause_ms(2, WINDOWS, 10**9) == 500


def test_addresses_are_limited_each_by_itself() -> None:
    quota = AddressQuota(WINDOWS)
    assert not quota
    quota.put(None, {"connection_creation_rate": "1"})
    quota.put("10.0.0.1", {"connection_creation_rate": "100"})
    assert [quota.charge("10.0.0.2", 0) for _ in range(12)] == [0] * 10 + [1000] * 2
    assert [quota.charge("10.0.0.1", 0) for _ in range(12)] == [0] * 12
    assert quota.charge("::ffff:10.0.0.2", 0) == 1000
    quota.put(None, {})
    assert quota.charge("10.0.0.2", 0) == 0


def test_who_was_kept_away_is_not_counted() -> None:
    quota = AddressQuota(WINDOWS)
    quota.put(None, {"connection_creation_rate": "1"})
    for _ in range(100):
        quota.charge("a", 0)
    assert quota.charge("a", 11_000) == 0


def test_who_is_silent_is_forgotten() -> None:
    uses: Uses[int, Rate] = Uses(Rate, WINDOWS.span_ms)
    for number in range(10_000):
        now_ms = number * 1000
        uses.get(number, now_ms).record(1, WINDOWS, now_ms)
    assert len(uses) <= KEPT_MIN
