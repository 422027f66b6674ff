"""DescribeGroups and ListGroups."""

from __future__ import annotations

import pytest

from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_groups import DescribeGroupsResponse
from odradek.kafka.wire.messages.list_groups import ListGroupsResponse
from tests.kafka.coordinator.group_stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def test_a_stable_group_is_shown_with_what_everyone_does(stage: Stage) -> None:
    stage.stable_group(2)
    group = stage.shard.describe_group("g")
    assert (group.group_state, group.protocol_type, group.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    shown = [(m.client_id, m.client_host, m.member_metadata) for m in group.members]
    assert shown == [("app", "/127.0.0.1", b"r")] * 2
    assert {m.member_assignment for m in group.members} == {
        b"work of app-uuid0",
        b"work of app-uuid1",
    }
    for version in range(6):
        encode(DescribeGroupsResponse(groups=[group]), version)


def test_a_group_in_a_rebalance_is_shown_without_metadata(stage: Stage) -> None:
    leader, _ = stage.stable_group(2)
    stage.ask_join(leader)
    group = stage.shard.describe_group("g")
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert {(m.member_metadata, m.member_assignment) for m in group.members} == {(b"", b"")}


def test_a_group_that_does_not_exist_is_dead(stage: Stage) -> None:
    group = stage.shard.describe_group("no")
    assert (group.error_code, group.group_state, group.members) == (ErrorCode.NONE, "Dead", [])


def test_groups_are_listed_by_state_and_type(stage: Stage) -> None:
    stage.stable_group(1, group="busy")
    stage.commit({("t", 0): 1}, group="simple")

    def listed(states: list[str], types: list[str]) -> list[str]:
        groups = stage.shard.list_groups(states, types)
        encode(ListGroupsResponse(error_code=0, groups=groups), 5)
        return [group.group_id for group in groups]

    assert listed([], []) == ["busy", "simple"]
    assert listed(["stable"], []) == ["busy"]
    assert listed(["EMPTY", "Stable"], ["Classic"]) == ["busy", "simple"]
    assert listed([], ["consumer"]) == []
    assert listed(["nonsense"], []) == []


def test_a_listed_group_says_what_it_is(stage: Stage) -> None:
    stage.stable_group(1)
    (group,) = stage.shard.list_groups([], [])
    assert (group.protocol_type, group.group_state, group.group_type) == (
        "consumer",
        "Stable",
        "classic",
    )
