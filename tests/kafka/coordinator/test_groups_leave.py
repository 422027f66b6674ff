"""LeaveGroup: one member or many, by id or by instance."""

from __future__ import annotations

import pytest

from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.group_stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def test_a_member_that_leaves_is_gone_at_once(stage: Stage) -> None:
    leader, other = stage.stable_group(2)
    assert stage.leave((leader, None)) == [ErrorCode.NONE]
    assert stage.heartbeat(leader, 2) == ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.joined(stage.ask_join(other)).leader == other


def test_members_leave_together_each_with_its_own_result(stage: Stage) -> None:
    first, second = stage.stable_group(2)
    results = stage.leave((first, None), ("who", None), (second, None))
    assert results == [ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.NONE]
    assert stage.state() == "Empty"


def test_a_static_member_can_be_made_to_leave_by_its_instance(stage: Stage) -> None:
    stage.ask_join(instance="i")
    assert stage.leave(("", "i")) == [ErrorCode.NONE]
    assert stage.leave(("", "i")) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_a_fenced_member_cannot_make_its_successor_leave(stage: Stage) -> None:
    old = stage.joined(stage.ask_join(instance="i")).member_id
    stage.ask_sync(old, 1, {old: b"all"})
    stage.ask_join(instance="i")
    assert stage.leave((old, "i")) == [ErrorCode.FENCED_INSTANCE_ID]
    assert stage.leave((old, "other")) == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_who_was_given_an_id_may_give_it_back(stage: Stage) -> None:
    (first,) = stage.stable_group(1)
    pending = stage.new_id()
    token = stage.ask_join(first)
    assert stage.leave((pending, None)) == [ErrorCode.NONE]
    assert stage.joined(token).error_code == ErrorCode.NONE


def test_a_group_whose_only_candidate_gave_up_is_no_group(stage: Stage) -> None:
    stage.leave((stage.new_id(), None))
    assert stage.state() == "Dead"


def test_the_old_versions_name_one_member_and_have_one_error(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1)
    assert stage.leave_alone(member_id) == ErrorCode.NONE
    assert stage.leave_alone(member_id) == ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.leave_alone(member_id, group="") == ErrorCode.INVALID_GROUP_ID


def test_who_leaves_while_it_waits_is_answered(stage: Stage) -> None:
    leader, follower = ids = stage.stable_group(2)
    joins = [stage.ask_join(each) for each in ids]
    generation = stage.joined(joins[0]).generation_id
    waiting = stage.ask_sync(follower, generation)
    stage.leave((follower, None))
    assert stage.synced(waiting).error_code == ErrorCode.UNKNOWN_MEMBER_ID
    stage.new_id()
    token = stage.ask_join(leader)
    stage.leave((leader, None))
    assert stage.joined(token).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_that_does_not_exist_has_no_members_to_leave(stage: Stage) -> None:
    assert stage.leave(("m", None), ("", "i")) == [ErrorCode.UNKNOWN_MEMBER_ID] * 2
