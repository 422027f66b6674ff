"""When sessions end, and the passwords that go with them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.zookeeper.state.sessions import Sessions, first_session_id, password_of

TICK_MS = 2000


def test_the_password_of_a_session_is_the_original_s() -> None:
    assert password_of(0x100000A8EF00000).hex() == "e2663dd3c70b81bc9099fb48e80a7a25"


def test_ids_carry_the_server_s_id_on_top() -> None:
    assert first_session_id(1, 1_700_000_000_000) >> 56 == 1
    assert 0 < first_session_id(1, 5) < first_session_id(1, 6) < 2**63
    assert first_session_id(254, 5) < 0  # A signed number, as Java has it.


def test_a_session_lives_its_timeout_and_ends_with_the_tick() -> None:
    sessions = Sessions(TICK_MS)
    sessions.open(7, 5000, now_ms=1000)
    assert sessions.expire(7999) == []
    assert [session.session_id for session in sessions.expire(8000)] == [7]
    assert sessions.by_id[7].is_closing
    sessions.close(7)
    assert sessions.by_id == {}


def test_what_is_heard_of_lives_on() -> None:
    sessions = Sessions(TICK_MS)
    session = sessions.open(7, 5000, now_ms=0)
    for now_ms in range(0, 60_000, 3000):
        assert sessions.expire(now_ms) == []
        sessions.touch(session, now_ms)
    assert len(sessions.expire(66_000)) == 1


def test_a_closing_session_is_not_kept_alive() -> None:
    sessions = Sessions(TICK_MS)
    session = sessions.open(7, 5000, now_ms=0)
    sessions.expire(6000)
    sessions.touch(session, 6000)
    assert sessions.expire(60_000) == []


@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(0, 3000), st.booleans()), max_size=50),
    st.integers(4000, 40_000),
)
def test_no_session_ends_early_and_none_is_forgotten(
    steps: list[tuple[int, int, bool]], timeout_ms: int
) -> None:
    sessions = Sessions(TICK_MS)
    last_heard: dict[int, int] = {}
    now_ms = 0
    for session_id, step_ms, is_new in steps:
        now_ms += step_ms
        for session in sessions.expire(now_ms):
            assert now_ms - last_heard.pop(session.session_id) >= timeout_ms
            sessions.close(session.session_id)
        if is_new or session_id in sessions.by_id:
            sessions.open(session_id, timeout_ms, now_ms)
            last_heard[session_id] = now_ms
    assert set(sessions.by_id) == set(last_heard)
    assert len(sessions.expire(now_ms + timeout_ms + TICK_MS)) == len(last_heard)
