"""Answers about offsets: one for each partition, by topic."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.offsets_answers import (
    KEPT_PARTITIONS_MAX,
    commit_response,
    same_commit_response,
)
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode

PARTITIONS = st.lists(
    st.builds(TopicPartition, st.sampled_from(["a", "b", "ü"]), st.integers(0, 3)), unique=True
)
ERRORS = st.sampled_from([ErrorCode.NONE, ErrorCode.NOT_COORDINATOR])


@given(PARTITIONS, ERRORS)
def test_an_answer_that_is_kept_is_the_one_that_would_be_made(
    partitions: list[TopicPartition], error: ErrorCode
) -> None:
    assert same_commit_response(partitions, error) == commit_response(
        dict.fromkeys(partitions, error)
    )


def test_an_answer_about_very_many_partitions_is_not_kept() -> None:
    partitions = [TopicPartition("t", number) for number in range(KEPT_PARTITIONS_MAX + 1)]
    few, many = partitions[:-1], partitions
    assert same_commit_response(few, ErrorCode.NONE) is same_commit_response(few, ErrorCode.NONE)
    first, second = (same_commit_response(many, ErrorCode.NONE) for _ in range(2))
    assert first is not second
    assert first == second
    assert [each.partition_index for each in first.topics[0].partitions] == list(range(len(many)))
