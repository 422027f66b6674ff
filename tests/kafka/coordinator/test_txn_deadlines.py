"""Deadlines come up in order, each key once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.txn_deadlines import Deadlines


def test_the_earliest_deadline_of_a_key_counts() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 10)
    deadlines.set("a", 20)
    assert deadlines.next_ms == 10
    deadlines.set("a", 5)
    assert list(deadlines.take_due(30)) == ["a"]
    assert deadlines.next_ms is None


def test_a_key_that_came_up_may_be_set_again() -> None:
    deadlines: Deadlines[str] = Deadlines()
    deadlines.set("a", 10)
    assert list(deadlines.take_due(10)) == ["a"]
    deadlines.set("a", 30)
    assert list(deadlines.take_due(29)) == []
    assert list(deadlines.take_due(30)) == ["a"]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20))), st.integers(0, 20))
def test_what_is_due_comes_in_order_and_the_rest_stays(
    entries: list[tuple[int, int]], now_ms: int
) -> None:
    deadlines: Deadlines[int] = Deadlines()
    for key, at_ms in entries:
        deadlines.set(key, at_ms)
    earliest = {key: min(at for other, at in entries if other == key) for key, _ in entries}
    expected = sorted((at, key) for key, at in earliest.items() if at <= now_ms)
    assert [(earliest[key], key) for key in deadlines.take_due(now_ms)] == expected
    assert deadlines.next_ms == min((at for at in earliest.values() if at > now_ms), default=None)
