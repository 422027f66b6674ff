"""Static members: restarted within their session, nobody else notices."""

from __future__ import annotations

import pytest

from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.group_stage import RANGE, SESSION_MS, Committing, Joining, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def static_group(stage: Stage) -> tuple[str, str, int]:
    """Two static members, `i` (the leader) and `j`, in a stable group."""
    first = stage.joined(stage.ask_join(instance="i")).member_id
    token = stage.ask_join(instance="j")
    stage.ask_join(first, instance="i")
    answer = stage.joined(token)
    second, generation = answer.member_id, answer.generation_id
    stage.ask_sync(first, generation, {first: b"one", second: b"two"}, instance="i")
    stage.ask_sync(second, generation, instance="j")
    return first, second, generation


def test_a_static_member_is_named_after_its_instance_and_needs_no_second_round(
    stage: Stage,
) -> None:
    answer = stage.joined(stage.ask_join(instance="i"))
    assert (answer.error_code, answer.member_id) == (ErrorCode.NONE, "i-uuid0")
    assert answer.members[0].group_instance_id == "i"


def test_a_restarted_follower_goes_on_in_the_same_generation(stage: Stage) -> None:
    first, second, generation = static_group(stage)
    answer = stage.joined(stage.ask_join(instance="j"))
    assert answer.generation_id == generation
    assert answer.member_id != second
    assert (answer.leader, answer.skip_assignment, answer.members) == (first, False, [])
    synced = stage.synced(stage.ask_sync(answer.member_id, generation, instance="j"))
    assert synced.assignment == b"two"
    assert stage.heartbeat(first, generation, instance="i") == ErrorCode.NONE


def test_a_restarted_leader_leads_and_need_not_assign(stage: Stage) -> None:
    _, second, _ = static_group(stage)
    answer = stage.joined(stage.ask_join(instance="i"))
    assert answer.leader == answer.member_id
    assert answer.skip_assignment
    assert {member.member_id for member in answer.members} == {answer.member_id, second}


def test_before_version_9_a_restarted_leader_is_shown_its_old_id_as_the_leaders(
    stage: Stage,
) -> None:
    first, _, _ = static_group(stage)
    answer = stage.joined(stage.ask_join(instance="i", version=8))
    assert answer.leader == first
    assert (answer.skip_assignment, answer.members) == (False, [])


def test_the_old_id_is_fenced(stage: Stage) -> None:
    _, second, generation = static_group(stage)
    stage.ask_join(instance="j")
    fenced = ErrorCode.FENCED_INSTANCE_ID
    assert stage.heartbeat(second, generation, instance="j") == fenced
    assert stage.joined(stage.ask_join(second, instance="j")).error_code == fenced
    assert stage.synced(stage.ask_sync(second, generation, instance="j")).error_code == fenced
    who = Committing(member_id=second, generation=generation, instance="j")
    assert stage.commit({("t", 0): 1}, **who) == {fenced}


def test_an_instance_that_is_not_known_is_no_member(stage: Stage) -> None:
    first, _, generation = static_group(stage)
    assert stage.heartbeat(first, generation, instance="x") == ErrorCode.UNKNOWN_MEMBER_ID


def test_the_new_id_survives_a_change_of_the_coordinator(stage: Stage) -> None:
    _, second, generation = static_group(stage)
    new = stage.joined(stage.ask_join(instance="j")).member_id
    after = stage.restarted()
    assert after.heartbeat(new, generation, instance="j") == ErrorCode.NONE
    assert after.heartbeat(second, generation, instance="j") == ErrorCode.FENCED_INSTANCE_ID


def test_no_answer_before_the_new_id_is_in_the_log(stage: Stage) -> None:
    static_group(stage)
    stage.is_holding = True
    token = stage.ask_join(instance="j")
    assert token not in stage.answers
    stage.settle()
    assert stage.joined(token).error_code == ErrorCode.NONE


def test_if_the_new_id_cannot_be_stored_the_old_one_stands(stage: Stage) -> None:
    _, second, generation = static_group(stage)
    stage.fails_with = ErrorCode.NOT_ENOUGH_REPLICAS
    changed = (("range", b"changed"), ("sticky", b""))
    answer = stage.joined(stage.ask_join(instance="j", protocols=changed))
    assert answer.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert stage.heartbeat(second, generation, instance="j") == ErrorCode.NONE
    member = stage.shard.desk.groups["g"].members[second]
    assert member.protocols == RANGE
    assert stage.shard.desk.groups["g"].supporters == {"range": 2}


@pytest.mark.parametrize("failure", [None, ErrorCode.REQUEST_TIMED_OUT])
def test_a_rebalance_that_comes_between_takes_the_new_id_along(
    stage: Stage, failure: ErrorCode | None
) -> None:
    first, _, generation = static_group(stage)
    stage.is_holding = True
    token = stage.ask_join(instance="j")
    stage.ask_join(first, instance="i", protocols=(("range", b"changed"),))
    answer = stage.joined(token)
    assert (answer.error_code, answer.generation_id) == (ErrorCode.NONE, generation + 1)
    stage.fails_with = failure
    stage.settle()
    assert stage.heartbeat(answer.member_id, generation + 1, instance="j") == ErrorCode.NONE


def test_a_second_restart_fences_the_first_while_it_waits(stage: Stage) -> None:
    static_group(stage)
    stage.is_holding = True
    tokens = [stage.ask_join(instance="j"), stage.ask_join(instance="j")]
    stage.settle()
    errors = [stage.joined(token).error_code for token in tokens]
    assert errors == [ErrorCode.FENCED_INSTANCE_ID, ErrorCode.NONE]


def test_a_restart_that_would_change_the_protocol_starts_a_rebalance(stage: Stage) -> None:
    both = (("range", b""), ("sticky", b""))
    member_id = stage.joined(stage.ask_join(instance="i", protocols=both)).member_id
    stage.ask_sync(member_id, 1, {member_id: b"all"})
    answer = stage.joined(stage.ask_join(instance="i", protocols=both[::-1]))
    assert (answer.generation_id, answer.protocol_name) == (2, "sticky")


def test_a_restart_before_the_assignments_are_there_starts_a_rebalance(stage: Stage) -> None:
    first = stage.joined(stage.ask_join(instance="i")).member_id
    waiting = stage.ask_sync(first, 1, {})
    assert stage.synced(waiting).error_code == ErrorCode.NONE
    stage.ask_join(first, instance="i")
    answer = stage.joined(stage.ask_join(instance="i"))
    assert answer.generation_id == 3
    assert stage.heartbeat(first, 3, instance="i") == ErrorCode.FENCED_INSTANCE_ID


def test_who_waits_to_sync_is_fenced_by_its_successor(stage: Stage) -> None:
    first, second, _ = static_group(stage)
    tokens = [stage.ask_join(first, instance="i"), stage.ask_join(second, instance="j")]
    generation = stage.joined(tokens[0]).generation_id
    waiting = stage.ask_sync(second, generation, instance="j")
    stage.ask_join(instance="j")
    assert stage.synced(waiting).error_code == ErrorCode.FENCED_INSTANCE_ID


def test_a_static_member_that_is_away_keeps_its_place_through_a_rebalance(stage: Stage) -> None:
    first, second, _ = static_group(stage)
    long = Joining(session_ms=600_000, rebalance_ms=8000)
    changed = long | Joining(protocols=(("range", b"new"),))
    tokens = [stage.ask_join(first, **long | Joining(instance="i"))]
    tokens.append(stage.ask_join(second, **long | Joining(instance="j")))
    generation = stage.joined(tokens[0]).generation_id
    stage.ask_sync(first, generation, {}, instance="i")
    stage.ask_sync(second, generation, instance="j")
    token = stage.ask_join(first, **changed | Joining(instance="i"))
    stage.pass_ms(8000)
    assert {member.member_id for member in stage.joined(token).members} == {first, second}


def test_if_all_are_away_the_group_waits_until_their_sessions_end(stage: Stage) -> None:
    first, _, _ = static_group(stage)
    stage.pass_ms(SESSION_MS - 1)
    assert stage.leave(("", "j")) == [ErrorCode.NONE]
    assert stage.state() == "PreparingRebalance"
    stage.pass_ms(1)
    assert stage.state() == "Empty"
    assert stage.joined(stage.ask_join(first, instance="i")).error_code
