"""Rates over windows, as Kafka's."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.quotas.rates import PAUSE_MAX_MS, Rate, Windows

WINDOWS = Windows(11, 1000)


def test_the_first_window_counts_as_if_ten_were_over() -> None:
    rate = Rate()
    rate.record(1000, WINDOWS, 0)
    assert rate.time_ms(WINDOWS, 0) == 10_000
    assert rate.measure(WINDOWS, 0) == 100


def test_time_grows_with_the_windows() -> None:
    rate = Rate()
    rate.record(1000, WINDOWS, 0)
    assert rate.time_ms(WINDOWS, 500) == 10_500
    rate.record(1000, WINDOWS, 10_500)
    assert rate.time_ms(WINDOWS, 10_500) == 10_500
    assert rate.measure(WINDOWS, 10_500) == 2000 / 10.5


def test_what_is_old_is_forgotten() -> None:
    rate = Rate()
    rate.record(1000, WINDOWS, 0)
    assert rate.measure(WINDOWS, 10_999) > 0
    assert rate.measure(WINDOWS, 11_000) == 0


def test_whoever_is_over_the_limit_holds_back_until_the_rate_would_be_within_it() -> None:
    rate = Rate()
    rate.record(3000, WINDOWS, 0)
    assert rate.pause_ms(300, WINDOWS, 0) == 0
    assert rate.pause_ms(200, WINDOWS, 0) == 5000
    assert rate.pause_ms(100, WINDOWS, 0) == 20_000


def test_a_limit_of_nothing_is_over_as_soon_as_there_is_something() -> None:
    rate = Rate()
    assert rate.pause_ms(0, WINDOWS, 0) == 0
    rate.record(1, WINDOWS, 0)
    assert rate.pause_ms(0, WINDOWS, 0) == PAUSE_MAX_MS


def test_what_was_taken_back_does_not_count() -> None:
    rate = Rate()
    rate.record(3000, WINDOWS, 0)
    rate.record(-3000, WINDOWS, 0)
    assert rate.pause_ms(1, WINDOWS, 0) == 0


@given(
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 10_000)), min_size=1, max_size=60),
    st.integers(1, 12),
    st.integers(1, 3),
)
def test_the_ring_counts_what_came_in_its_windows_and_no_more(
    steps: list[tuple[int, int]], count: int, seconds: int
) -> None:
    windows = Windows(count, seconds * 1000)
    rate, now_ms = Rate(), 0
    came: list[tuple[int, int]] = []
    for wait_ms, amount in steps:
        now_ms += wait_ms
        rate.record(amount, windows, now_ms)
        came.append((now_ms, amount))
    counted = rate.measure(windows, now_ms) * rate.time_ms(windows, now_ms) / 1000
    # A window that has something new in it counts as a whole, and one more than asked for is kept.
    span_ms = windows.span_ms
    least = sum(amount for at_ms, amount in came if now_ms - at_ms < span_ms - windows.size_ms)
    most = sum(amount for at_ms, amount in came if now_ms - at_ms < span_ms + windows.size_ms)
    assert least - 1e-6 <= counted <= most + 1e-6
