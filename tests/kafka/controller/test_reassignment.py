"""Replicas on the move."""

from __future__ import annotations

import pytest

from odradek.kafka.controller import reassignment
from odradek.kafka.controller.decide import decide_offline
from odradek.kafka.controller.deletion import ask_for_deletion
from odradek.kafka.controller.image import Assignment
from odradek.kafka.controller.reassignment import Verdict, judge_target
from odradek.kafka.controller.znodes import read_topic
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.controller.images import T0, image, state

MOVING = Assignment((3, 2, 1), (3,), (1,))


def test_on_the_way_both_old_and_new_hold_the_partition() -> None:
    assert Assignment((1, 2)).reassigned_to((3, 2)) == MOVING
    assert (MOVING.target, MOVING.origin) == ((3, 2), (2, 1))
    assert MOVING.is_being_reassigned and not Assignment((1, 2)).is_being_reassigned


def test_another_target_forgets_the_first() -> None:
    assert MOVING.reassigned_to((4, 2)) == Assignment((4, 2, 1), (4,), (1,))


def test_a_move_is_taken_back_by_moving_to_where_it_came_from() -> None:
    cluster = image([1, 2, 3], {0: [1, 2]})
    assert judge_target(cluster, T0, None) == Verdict(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    cluster.put_assignment(T0, MOVING)
    assert judge_target(cluster, T0, None) == Assignment((2, 1))


@pytest.mark.parametrize("target", [[], [1, 1], [-1, 2], [9]])
def test_a_target_must_make_sense(target: list[int]) -> None:
    verdict = judge_target(image([1, 2], {0: [1]}), T0, target)
    assert isinstance(verdict, Verdict)
    assert verdict.error == ErrorCode.INVALID_REPLICA_ASSIGNMENT and verdict.message


def test_who_is_dead_may_stay_but_not_come() -> None:
    assert judge_target(image([1], {0: [1, 2]}), T0, [2]) == Assignment((2, 1), (), (1,))


def test_what_is_not_there_or_about_to_go_does_not_move() -> None:
    assert judge_target(image([1]), T0, [1]) == reassignment.UNKNOWN
    cluster = image([1], {0: [1]})
    ask_for_deletion(cluster, ["t"])
    assert judge_target(cluster, T0, [1]) == reassignment.UNKNOWN


def test_the_topics_node_says_who_comes_and_goes() -> None:
    cluster = image([1, 2, 3], {0: [1, 2], 1: [1]})
    write = reassignment.write_assignment(cluster, T0, MOVING)
    assert write.path == "/brokers/topics/t"
    assert read_topic(write.data).partitions == {0: MOVING, 1: Assignment((1,))}


def test_old_and_new_replicas_hear_of_it_under_a_new_epoch() -> None:
    cluster = image([1, 2, 3], {0: [1, 2]}, {0: state(1, [1, 2])})
    cluster.put_assignment(T0, MOVING)
    (change,) = reassignment.decide_started(cluster, T0).changes
    assert (change.state.leader, change.state.leader_epoch) == (1, 4)
    assert (change.recipients, change.brings_new) == ((3, 2, 1), (3,))


def test_it_is_complete_when_the_whole_target_is_in_sync() -> None:
    cluster = image([1, 2, 3], {0: [1, 2]}, {0: state(1, [1, 2])})
    cluster.put_assignment(T0, MOVING)
    assert not reassignment.is_complete(cluster, T0)
    cluster.states[T0] = state(1, [1, 2, 3])
    assert reassignment.is_complete(cluster, T0)


def test_the_leader_moves_only_if_it_must() -> None:
    cluster = image([1, 2, 3], {0: [3, 2]}, {0: state(1, [1, 2, 3])})
    (moved,) = reassignment.decide_moved_leader(cluster, T0).changes
    assert moved.state.leader == 3
    cluster.states[T0] = state(2, [1, 2, 3])
    (kept,) = reassignment.decide_moved_leader(cluster, T0).changes
    assert (kept.state.leader, kept.state.leader_epoch) == (2, 4)
    del cluster.brokers[2]
    (forced,) = reassignment.decide_moved_leader(cluster, T0).changes
    assert forced.state.leader == 3


def test_what_is_removed_leaves_the_isr_and_is_deleted() -> None:
    cluster = image([1, 2, 3], {0: [3, 2]}, {0: state(3, [1, 2, 3])})
    (change,) = decide_offline(cluster, [(T0, 1)]).changes
    assert (change.state.isr, change.recipients) == ((2, 3), (3, 2))
    assert reassignment.deleted(T0, [1]).stop == {1: {T0: True}}
