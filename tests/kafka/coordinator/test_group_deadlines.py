"""Deadlines against the plainest thing that could be right: look at all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.group_deadlines import Deadline, Deadlines, Kind

STEPS = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(st.none(), st.integers(-5, 30)), st.integers(0, 10)),
    max_size=60,
)


@given(STEPS)
def test_each_deadline_passes_once_and_in_time(steps: list[tuple[int, int | None, int]]) -> None:
    deadlines = Deadlines()
    known = [Deadline(Kind.SESSION, "g", str(number)) for number in range(5)]
    expected: dict[str, int] = {}
    now_ms = 0
    for number, timeout_ms, passing_ms in steps:
        deadline = known[number]
        if timeout_ms is None:
            deadlines.cancel(deadline)
            expected.pop(deadline.member_id, None)
        else:
            deadlines.start(deadline, now_ms, timeout_ms)
            expected[deadline.member_id] = now_ms + max(timeout_ms, 1)
        next_ms = deadlines.next_ms()
        assert (next_ms is None) == (not expected)
        assert next_ms is None or next_ms <= min(expected.values())
        now_ms += passing_ms
        passed = set()
        while due := deadlines.pop_due(now_ms):
            assert due.member_id not in passed
            passed.add(due.member_id)
        assert passed == {each for each, due_ms in expected.items() if due_ms <= now_ms}
        for each in passed:
            del expected[each]
