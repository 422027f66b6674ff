"""JoinGroup: who becomes a member, and when a rebalance is called for."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.groups_desk import Limits
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.coordinator.group_stage import PROMPT, RANGE, SESSION_MS, Stage
from tests.kafka.settings.server_properties import read


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def test_a_first_join_of_version_4_is_told_an_id_to_come_back_with(stage: Stage) -> None:
    answer = stage.joined(stage.ask_join(version=4))
    assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert answer.member_id == "app-uuid0"
    again = stage.joined(stage.ask_join("app-uuid0", version=4))
    assert (again.error_code, again.generation_id) == (ErrorCode.NONE, 1)


def test_older_versions_are_members_at_once(stage: Stage) -> None:
    answer = stage.joined(stage.ask_join(version=3))
    assert (answer.error_code, answer.member_id) == (ErrorCode.NONE, "app-uuid0")
    assert answer.leader == "app-uuid0"
    assert [member.metadata for member in answer.members] == [b"r"]


def test_an_id_that_is_not_used_in_time_is_taken_back(stage: Stage) -> None:
    member_id = stage.new_id()
    stage.pass_ms(SESSION_MS + 1)
    assert stage.joined(stage.ask_join(member_id)).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_group_that_nobody_joined_in_the_end_leaves_no_trace(stage: Stage) -> None:
    stage.new_id()
    assert stage.state() == "Empty"
    stage.pass_ms(SESSION_MS + 1)
    assert stage.state() == "Dead"
    assert not stage.shard.desk.groups
    assert not stage.log


@pytest.mark.parametrize("session_ms", [5999, 1_800_001])
def test_a_session_timeout_out_of_bounds_is_refused(stage: Stage, session_ms: int) -> None:
    answer = stage.joined(stage.ask_join(session_ms=session_ms))
    assert answer.error_code == ErrorCode.INVALID_SESSION_TIMEOUT


def test_a_group_id_may_not_be_empty(stage: Stage) -> None:
    assert stage.joined(stage.ask_join(group="")).error_code == ErrorCode.INVALID_GROUP_ID


def test_a_member_of_no_group_is_unknown(stage: Stage) -> None:
    assert stage.joined(stage.ask_join("who")).error_code == ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize(
    ("protocol_type", "protocols"),
    [("connect", RANGE), ("consumer", (("sticky", b""),)), ("consumer", ())],
)
def test_who_shares_no_protocol_cannot_join(
    stage: Stage, protocol_type: str, protocols: tuple[tuple[str, bytes], ...]
) -> None:
    stage.stable_group(1)
    answer = stage.joined(stage.ask_join(protocol_type=protocol_type, protocols=protocols))
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize(("protocol_type", "protocols"), [("", RANGE), ("consumer", ())])
def test_an_empty_group_needs_a_protocol_too(
    stage: Stage, protocol_type: str, protocols: tuple[tuple[str, bytes], ...]
) -> None:
    answer = stage.joined(stage.ask_join(protocol_type=protocol_type, protocols=protocols))
    assert answer.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    assert not stage.shard.desk.groups


def test_the_protocol_that_most_like_best_among_those_all_support_is_chosen(stage: Stage) -> None:
    likes = [
        (("a", b""), ("b", b""), ("c", b"")),
        (("b", b""), ("a", b"")),
        (("x", b""), ("b", b""), ("a", b"")),
    ]
    ids = [stage.new_id() for _ in likes]
    for member_id, protocols in zip(ids, likes, strict=True):
        stage.ask_join(member_id, protocols=protocols)
    token = stage.ask_join(ids[0], protocols=likes[0])
    assert stage.joined(token).protocol_name == "b"


def test_a_full_group_takes_no_more() -> None:
    stage = Stage(Limits(initial_delay_ms=0, members_max=2)).loaded()
    stage.stable_group(2)
    answer = stage.joined(stage.ask_join())
    assert (answer.error_code, answer.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, "")


def test_a_full_group_still_lets_its_members_join_again() -> None:
    stage = Stage(Limits(initial_delay_ms=0, members_max=2)).loaded()
    ids = stage.stable_group(2)
    assert stage.rejoin_all(ids) > 1


def test_a_group_loaded_over_its_capacity_shrinks_to_it() -> None:
    before = Stage().loaded()
    ids = before.stable_group(3)
    stage = Stage(Limits(initial_delay_ms=0, members_max=2), before.log, before.now_ms).loaded()
    assert stage.state() == "PreparingRebalance"
    tokens = [stage.ask_join(member_id) for member_id in ids]
    errors = [stage.joined(token).error_code for token in tokens]
    assert errors == [ErrorCode.NONE, ErrorCode.NONE, ErrorCode.GROUP_MAX_SIZE_REACHED]


def test_a_follower_that_says_nothing_new_learns_the_generation(stage: Stage) -> None:
    _, follower = stage.stable_group(2)
    generation = stage.shard.desk.groups["g"].generation_id
    answer = stage.joined(stage.ask_join(follower))
    assert (answer.generation_id, answer.members) == (generation, [])
    assert stage.state() == "Stable"


def test_a_follower_with_other_metadata_starts_a_rebalance(stage: Stage) -> None:
    leader, follower = stage.stable_group(2)
    token = stage.ask_join(follower, protocols=(("range", b"new"),))
    assert token not in stage.answers
    assert stage.heartbeat(leader, 2) == ErrorCode.REBALANCE_IN_PROGRESS


def test_a_leader_that_joins_again_starts_a_rebalance(stage: Stage) -> None:
    leader, _ = stage.stable_group(2)
    stage.ask_join(leader)
    assert stage.state() == "PreparingRebalance"


def test_only_the_leader_learns_the_members(stage: Stage) -> None:
    ids = stage.stable_group(3)
    tokens = [stage.ask_join(each, protocols=(("range", each.encode()),)) for each in ids]
    leader, *others = [stage.joined(token) for token in tokens]
    assert {member.member_id: member.metadata for member in leader.members} == {
        each: each.encode() for each in ids
    }
    assert [answer.members for answer in others] == [[], []]


def test_who_asks_twice_is_answered_twice_and_counted_once(stage: Stage) -> None:
    first, second = stage.stable_group(2)
    lost = stage.ask_join(first)
    again = stage.ask_join(first)
    assert stage.joined(lost).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert again not in stage.answers
    stage.ask_join(second)
    assert stage.joined(again).error_code == ErrorCode.NONE


def test_members_that_all_join_again_at_once_keep_their_ids(stage: Stage) -> None:
    """Concurrent rebalances must not make anyone unknown."""
    ids = stage.stable_group(5)
    for round_number in range(4):
        newcomer = stage.new_id()
        tokens = [stage.ask_join(newcomer)]
        tokens += [stage.ask_join(each) for each in reversed(ids)]
        ids.append(newcomer)
        assert {stage.joined(token).error_code for token in tokens} == {ErrorCode.NONE}
        (generation,) = {stage.joined(token).generation_id for token in tokens}
        assert generation == stage.shard.desk.groups["g"].generation_id
        leader = stage.joined(tokens[0]).leader
        if round_number % 2:  # Every other generation is overtaken before it has assignments.
            stage.ask_sync(leader, generation, {})


def test_a_newcomer_that_waits_too_long_is_let_go(stage: Stage) -> None:
    stage.stable_group(1, session_ms=1_000_000, rebalance_ms=2_000_000)
    token = stage.ask_join(stage.new_id())
    stage.pass_ms(300_001)
    assert stage.joined(token).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_version_0_waits_as_long_as_a_session_lasts(stage: Stage) -> None:
    stage.ask_join(version=0, session_ms=7000)
    assert stage.shard.desk.groups["g"].rebalance_timeout_ms == 7000


def test_limits_are_the_settings() -> None:
    settings = read("zookeeper.connect=h:1\ngroup.max.size=5\n")
    limits = Limits.of(settings, settings)
    assert limits.members_max == 5
    assert limits.retention_ms == 7 * 24 * 3600 * 1000
    assert PROMPT.metadata_length_max == limits.metadata_length_max == 4096
