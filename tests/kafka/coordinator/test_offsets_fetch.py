"""OffsetFetch in all its forms."""

from __future__ import annotations

import pytest

from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from tests.kafka.coordinator.group_stage import Stage, fetch_in_version

T0 = ("t", 0)


@pytest.fixture
def stage() -> Stage:
    stage = Stage().loaded()
    stage.commit({T0: 5, ("u", 2): 6}, metadata="m", leader_epoch=1)
    return stage


def ask(
    stage: Stage, version: int, topics: list[str] | None, group: str = "g"
) -> OffsetFetchResponse:
    asked = None
    if topics is not None:
        asked = [OffsetFetchRequestTopic(name=name, partition_indexes=[0, 1]) for name in topics]
    request = OffsetFetchRequest(group_id=group, topics=asked)
    response = fetch_in_version(stage, request, version)
    assert isinstance(response, OffsetFetchResponse)
    return response


@pytest.mark.parametrize("version", [1, 2, 5, 7])
def test_partitions_without_an_offset_are_answered_with_minus_1(stage: Stage, version: int) -> None:
    (topic,) = ask(stage, version, ["t"]).topics
    found = [(each.committed_offset, each.metadata, each.error_code) for each in topic.partitions]
    assert found == [(5, "m", 0), (-1, "", 0)]


def test_null_topics_ask_for_all(stage: Stage) -> None:
    assert [topic.name for topic in ask(stage, 2, None).topics] == ["t", "u"]


def test_no_topics_ask_for_none(stage: Stage) -> None:
    assert ask(stage, 2, []).topics == []


def test_a_group_that_does_not_exist_has_no_offsets_and_no_error(stage: Stage) -> None:
    response = ask(stage, 7, ["t"], group="no")
    assert response.error_code == ErrorCode.NONE
    assert [each.committed_offset for each in response.topics[0].partitions] == [-1, -1]
    assert ask(stage, 7, None, group="no").topics == []


def test_several_groups_are_asked_at_once(stage: Stage) -> None:
    groups = [OffsetFetchRequestGroup(group_id=each, topics=None) for each in ("g", "no")]
    response = fetch_in_version(stage, OffsetFetchRequest(groups=groups), 9)
    assert isinstance(response, OffsetFetchResponse)
    assert [(group.group_id, len(group.topics)) for group in response.groups] == [
        ("g", 2),
        ("no", 0),
    ]


@pytest.mark.parametrize("version", [1, 2, 7])
def test_the_error_of_a_group_stands_where_the_version_has_a_place_for_it(version: int) -> None:
    response = ask(Stage(), version, ["t"])
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    if version < 2:
        assert {each.error_code for each in response.topics[0].partitions} == {loading}
    else:
        assert (response.error_code, response.topics) == (loading, [])


def test_from_version_8_each_group_has_its_own_error() -> None:
    asked = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)])
    response = fetch_in_version(Stage(), asked, 8)
    assert isinstance(response, OffsetFetchResponse)
    assert response.groups[0].error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def test_who_wants_stable_offsets_is_told_to_wait_for_transactions(stage: Stage) -> None:
    stage.ask_txn_commit({T0: 9})
    (unstable,) = stage.fetched(T0, require_stable=True)
    assert (unstable.error_code, unstable.committed_offset) == (
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        -1,
    )
    (plain,) = stage.fetched(T0)
    assert (plain.error_code, plain.committed_offset) == (ErrorCode.NONE, 5)
    (other,) = stage.fetched(("u", 2), require_stable=True)
    assert (other.error_code, other.committed_offset) == (ErrorCode.NONE, 6)
    stage.end_transaction(is_commit=False)
    assert stage.fetched(T0, require_stable=True)[0].committed_offset == 5
