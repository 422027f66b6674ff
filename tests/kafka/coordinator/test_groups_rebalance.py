"""How long a rebalance waits, for whom, and what becomes of those who do not come."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.groups_desk import Limits
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.group_stage import REBALANCE_MS, SESSION_MS, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


@pytest.fixture
def slow() -> Stage:
    """A stage with Kafka's own initial delay of three seconds."""
    return Stage(Limits()).loaded()


def test_an_empty_group_waits_the_initial_delay(slow: Stage) -> None:
    token = slow.ask_join(slow.new_id())
    slow.pass_ms(2999)
    assert token not in slow.answers
    slow.pass_ms(1)
    assert slow.joined(token).generation_id == 1


def test_the_initial_delay_starts_again_while_members_come(slow: Stage) -> None:
    tokens = [slow.ask_join(slow.new_id())]
    for _ in range(4):
        slow.pass_ms(2000)
        tokens.append(slow.ask_join(slow.new_id()))
    slow.pass_ms(3000)
    assert not slow.answers.keys() & set(tokens)
    slow.pass_ms(3000)
    assert {slow.joined(token).generation_id for token in tokens} == {1}


def test_the_initial_delay_ends_with_the_rebalance_timeout(slow: Stage) -> None:
    first = slow.ask_join(slow.new_id(), rebalance_ms=7000)
    for _ in range(7):
        assert first not in slow.answers
        slow.pass_ms(999)
        slow.ask_join(slow.new_id(), rebalance_ms=7000)
    slow.pass_ms(3000)
    assert slow.joined(first).generation_id == 1


def test_a_group_that_was_used_before_is_not_delayed_again_and_again(slow: Stage) -> None:
    (member_id,) = slow_group(slow)
    slow.leave((member_id, None))
    assert slow.state() == "Empty"
    token = slow.ask_join(slow.new_id())
    slow.pass_ms(2000)
    slow.ask_join(slow.new_id())
    slow.pass_ms(1000)
    assert slow.joined(token).error_code == ErrorCode.NONE


def slow_group(slow: Stage) -> list[str]:
    member_id = slow.new_id()
    token = slow.ask_join(member_id)
    slow.pass_ms(3000)
    slow.ask_sync(member_id, slow.joined(token).generation_id, {member_id: b"all"})
    return [member_id]


def test_a_rebalance_waits_for_all_members(stage: Stage) -> None:
    first, second, third = stage.stable_group(3)
    tokens = [stage.ask_join(first), stage.ask_join(second)]
    stage.pass_ms(SESSION_MS - 1)
    assert not stage.answers.keys() & set(tokens)
    stage.ask_join(third)
    assert {stage.joined(token).error_code for token in tokens} == {ErrorCode.NONE}


def test_members_that_send_heartbeats_but_do_not_join_are_out_in_the_end(stage: Stage) -> None:
    first, lazy = stage.stable_group(2)
    token = stage.ask_join(first)
    for _ in range(REBALANCE_MS // 5000):
        assert token not in stage.answers
        assert stage.heartbeat(lazy, 2) == ErrorCode.REBALANCE_IN_PROGRESS
        stage.pass_ms(5000)
    assert [member.member_id for member in stage.joined(token).members] == [first]
    assert stage.heartbeat(lazy, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_longest_rebalance_timeout_counts(stage: Stage) -> None:
    ids = stage.stable_group(1, rebalance_ms=20_000, session_ms=60_000)
    token = stage.ask_join(stage.new_id(), rebalance_ms=30_000, session_ms=60_000)
    stage.pass_ms(29_999)
    assert token not in stage.answers
    stage.pass_ms(1)
    assert stage.joined(token).leader not in ids


def test_a_rebalance_waits_for_who_was_given_an_id(stage: Stage) -> None:
    (first,) = stage.stable_group(1)
    pending = stage.new_id()
    token = stage.ask_join(first)
    assert token not in stage.answers
    stage.ask_join(pending)
    assert len(stage.joined(token).members) == 2


def test_a_rebalance_goes_on_when_a_given_id_is_taken_back(stage: Stage) -> None:
    (first,) = stage.stable_group(1)
    stage.new_id()
    token = stage.ask_join(first)
    stage.pass_ms(SESSION_MS)
    assert len(stage.joined(token).members) == 1


def test_the_leader_stays_the_leader_if_it_comes_back(stage: Stage) -> None:
    leader, *others = stage.stable_group(3)
    changed = (("range", b"new"),)
    tokens = [stage.ask_join(each, protocols=changed) for each in (*others, leader)]
    assert {stage.joined(token).leader for token in tokens} == {leader}


def test_another_leads_if_the_leader_does_not_come_back(stage: Stage) -> None:
    leader, other = stage.stable_group(2)
    token = stage.ask_join(other, protocols=(("range", b"new"),))
    stage.pass_ms(SESSION_MS)
    assert stage.joined(token).leader == other
    assert stage.heartbeat(leader, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_is_not_heard_of_is_out_and_the_others_share_its_work(stage: Stage) -> None:
    first, silent = stage.stable_group(2)
    stage.pass_ms(SESSION_MS // 2)
    assert stage.heartbeat(first, 2) == ErrorCode.NONE
    stage.pass_ms(SESSION_MS // 2)
    assert stage.heartbeat(first, 2) == ErrorCode.REBALANCE_IN_PROGRESS
    assert len(stage.joined(stage.ask_join(first)).members) == 1
    assert stage.heartbeat(silent, 2) == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_is_empty_when_its_last_member_is_gone(stage: Stage) -> None:
    stage.stable_group(2)
    stage.pass_ms(SESSION_MS)
    assert stage.state() == "Empty"
    assert stage.restarted().state() == "Empty"


def test_who_does_not_ask_for_its_assignment_is_out(stage: Stage) -> None:
    leader, absent = ids = stage.stable_group(2)
    tokens = [stage.ask_join(each) for each in ids]
    generation = stage.joined(tokens[0]).generation_id
    stage.ask_sync(leader, generation, {leader: b"all"})
    for _ in range(REBALANCE_MS // 5000):
        assert stage.heartbeat(leader, generation) == ErrorCode.NONE
        stage.heartbeat(absent, generation)
        stage.pass_ms(5000)
    assert stage.heartbeat(leader, generation) == ErrorCode.REBALANCE_IN_PROGRESS
    assert stage.heartbeat(absent, generation) == ErrorCode.UNKNOWN_MEMBER_ID


def test_if_the_leader_brings_no_assignment_the_others_join_again(stage: Stage) -> None:
    leader, other = ids = stage.stable_group(2)
    tokens = [stage.ask_join(each) for each in ids]
    generation = stage.joined(tokens[0]).generation_id
    waiting = stage.ask_sync(other, generation)
    for _ in range(REBALANCE_MS // 5000):
        stage.heartbeat(leader, generation)
        stage.pass_ms(5000)
    assert stage.synced(waiting).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert stage.joined(stage.ask_join(other)).leader == other


def test_a_heartbeat_puts_a_session_off_without_growing_the_heap(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1)
    entries = len(stage.shard.desk.deadlines.heap)
    for _ in range(1000):
        stage.pass_ms(100)
        assert stage.heartbeat(member_id, 1) == ErrorCode.NONE
    assert len(stage.shard.desk.deadlines.heap) <= entries


def test_a_tick_looks_at_nothing_that_is_not_due(stage: Stage) -> None:
    for number in range(20):
        stage.stable_group(1, group=f"g{number}", session_ms=6000 + number)
    effects = stage.shard.tick(stage.now_ms + 5999)
    assert not effects.answers
    assert not effects.appends
    assert effects.deadline_ms == stage.now_ms + 6000
