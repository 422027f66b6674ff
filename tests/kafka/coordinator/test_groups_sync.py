"""SyncGroup and Heartbeat; and that assignments count only once they are in the log."""

from __future__ import annotations

import pytest

from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.group_stage import SESSION_MS, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def in_generation(stage: Stage) -> tuple[str, str, int]:
    """A leader and a follower that wait to sync, and their generation."""
    leader, follower = ids = stage.stable_group(2)
    tokens = [stage.ask_join(each) for each in ids]
    return leader, follower, stage.joined(tokens[0]).generation_id


def test_everyone_gets_what_the_leader_gave_it(stage: Stage) -> None:
    leader, follower, generation = in_generation(stage)
    early = stage.ask_sync(follower, generation)
    assert early not in stage.answers
    token = stage.ask_sync(leader, generation, {leader: b"one", follower: b"two"})
    assert stage.synced(token).assignment == b"one"
    assert stage.synced(early).assignment == b"two"
    late = stage.ask_sync(follower, generation)
    assert (stage.synced(late).assignment, stage.synced(late).protocol_name) == (b"two", "range")


def test_who_was_left_out_has_nothing_to_do(stage: Stage) -> None:
    leader, follower, generation = in_generation(stage)
    stage.ask_sync(leader, generation, {leader: b"all", "stranger": b"x"})
    answer = stage.synced(stage.ask_sync(follower, generation))
    assert (answer.error_code, answer.assignment) == (ErrorCode.NONE, b"")


def test_no_assignment_is_told_before_it_is_in_the_log(stage: Stage) -> None:
    leader, follower, generation = in_generation(stage)
    stage.is_holding = True
    tokens = [stage.ask_sync(follower, generation)]
    tokens.append(stage.ask_sync(leader, generation, {leader: b"one", follower: b"two"}))
    assert not stage.answers.keys() & set(tokens)
    assert stage.state() == "CompletingRebalance"
    stage.settle()
    assert [stage.synced(token).assignment for token in tokens] == [b"two", b"one"]
    assert stage.state() == "Stable"


def test_a_leader_that_syncs_twice_has_its_assignments_stored_once(stage: Stage) -> None:
    leader, _, generation = in_generation(stage)
    stage.is_holding = True
    lost = stage.ask_sync(leader, generation, {leader: b"first"})
    again = stage.ask_sync(leader, generation, {leader: b"second"})
    assert len(stage.held) == 1
    stage.settle()
    assert stage.synced(lost).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert stage.synced(again).assignment == b"first"


@pytest.mark.parametrize(
    ("of_the_log", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REBALANCE_IN_PROGRESS),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.RECORD_LIST_TOO_LARGE, ErrorCode.UNKNOWN_SERVER_ERROR),
        (ErrorCode.CORRUPT_MESSAGE, ErrorCode.CORRUPT_MESSAGE),
    ],
)
def test_assignments_that_cannot_be_stored_are_no_assignments(
    stage: Stage, of_the_log: ErrorCode, told: ErrorCode
) -> None:
    leader, follower, generation = in_generation(stage)
    stage.fails_with = of_the_log
    tokens = [stage.ask_sync(follower, generation)]
    tokens.append(stage.ask_sync(leader, generation, {leader: b"one", follower: b"two"}))
    assert {stage.synced(token).error_code for token in tokens} == {told}
    assert {stage.synced(token).assignment for token in tokens} == {b""}
    assert stage.heartbeat(leader, generation) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_rebalance_overtakes_assignments_on_their_way_to_the_log(stage: Stage) -> None:
    leader, follower, generation = in_generation(stage)
    stage.is_holding = True
    token = stage.ask_sync(leader, generation, {leader: b"old"})
    stage.ask_join(follower, protocols=(("range", b"changed"),))
    assert stage.synced(token).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    stage.settle()
    assert stage.state() == "PreparingRebalance"


def test_a_failure_of_an_overtaken_generation_changes_nothing(stage: Stage) -> None:
    leader, follower, generation = in_generation(stage)
    stage.is_holding = True
    stage.ask_sync(leader, generation, {leader: b"old"})
    changed = (("range", b"changed"),)
    waiting = [stage.ask_join(each, protocols=changed) for each in (follower, leader)]
    assert {stage.joined(token).generation_id for token in waiting} == {generation + 1}
    stage.fails_with = ErrorCode.REQUEST_TIMED_OUT
    stage.settle()
    assert stage.state() == "CompletingRebalance"


def test_a_session_does_not_end_while_its_member_waits_for_us(stage: Stage) -> None:
    leader, follower, generation = in_generation(stage)
    stage.is_holding = True
    token = stage.ask_sync(follower, generation)
    stage.ask_sync(leader, generation, {follower: b"two"})
    stage.pass_ms(SESSION_MS * 2)
    stage.settle()
    assert stage.synced(token).assignment == b"two"
    assert stage.heartbeat(follower, generation) == ErrorCode.NONE
    stage.pass_ms(SESSION_MS)
    assert stage.state() == "Empty"


def test_sync_is_refused_with_the_reason(stage: Stage) -> None:
    leader, _, generation = in_generation(stage)

    def error(token: int) -> int:
        return stage.synced(token).error_code

    assert error(stage.ask_sync("who", generation)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert error(stage.ask_sync(leader, generation, group="no")) == ErrorCode.UNKNOWN_MEMBER_ID
    assert error(stage.ask_sync(leader, generation - 1)) == ErrorCode.ILLEGAL_GENERATION
    wrong = stage.ask_sync(leader, generation, protocol="sticky")
    assert error(wrong) == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert error(stage.ask_sync(leader, generation, group="")) == ErrorCode.INVALID_GROUP_ID
    stage.ask_join()
    stage.ask_join(leader, protocols=(("range", b"new"),))
    assert error(stage.ask_sync(leader, generation)) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_heartbeat_is_refused_with_the_reason(stage: Stage) -> None:
    leader, _, generation = in_generation(stage)
    assert stage.heartbeat(leader, generation) == ErrorCode.NONE
    assert stage.heartbeat(leader, generation + 1) == ErrorCode.ILLEGAL_GENERATION
    assert stage.heartbeat("who", generation) == ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.heartbeat(leader, generation, group="no") == ErrorCode.UNKNOWN_MEMBER_ID
    assert stage.heartbeat(leader, generation, group="") == ErrorCode.INVALID_GROUP_ID
    assert stage.heartbeat(leader, generation, instance="i") == ErrorCode.UNKNOWN_MEMBER_ID


def test_while_loading_heartbeats_are_fine_and_syncs_join_again() -> None:
    stage = Stage()
    assert stage.heartbeat("m", 1) == ErrorCode.NONE
    answer = stage.synced(stage.ask_sync("m", 1))
    assert answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert stage.joined(stage.ask_join()).error_code == loading
    assert stage.leave(("m", None)) == [loading]
    assert stage.commit({("t", 0): 1}) == {loading}
    assert stage.delete() == loading
    assert stage.delete_offsets(("t", 0)).error_code == loading
    assert stage.shard.describe_group("g").error_code == loading


def test_old_transactional_producers_do_not_hear_of_a_load() -> None:
    stage = Stage()
    old = stage.ask_txn_commit({("t", 0): 1}, version=1)
    assert stage.commit_errors(old) == {ErrorCode.COORDINATOR_NOT_AVAILABLE}
    new = stage.ask_txn_commit({("t", 0): 1}, version=2)
    assert stage.commit_errors(new) == {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
