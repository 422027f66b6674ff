"""A topic grows, and its new partitions go where Kafka would put them."""

from __future__ import annotations

from odradek.kafka.admin.partitions import decide_partitions
from odradek.kafka.admin.placement import Assignment, Candidate
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsTopic,
)

BROKERS = [Candidate(1), Candidate(2), Candidate(3)]
EXISTING = {0: [2, 3], 1: [3, 1]}


def decided(
    count: int,
    by_hand: list[list[int]] | None = None,
    existing: dict[int, list[int]] = EXISTING,
    is_reassigned: bool = False,
) -> Assignment | Refusal:
    assignments = None
    if by_hand is not None:
        assignments = [CreatePartitionsAssignment(broker_ids=replicas) for replicas in by_hand]
    topic = CreatePartitionsTopic(name="orders", count=count, assignments=assignments)
    return decide_partitions(topic, existing, BROKERS, is_reassigned=is_reassigned)


def code(answer: Assignment | Refusal) -> ErrorCode:
    assert isinstance(answer, Refusal), answer
    return answer.code


def test_the_round_goes_on_from_the_first_partitions_leader() -> None:
    # Broker 2 is second in line, so partition 2 falls to the first, and 3 begins a new round.
    assert decided(4) == {2: [1, 3], 3: [2, 3]}


def test_the_round_goes_on_from_the_next_broker_if_that_leader_is_gone() -> None:
    assert decided(2, existing={0: [0]}) == {1: [2]}
    assert decided(2, existing={0: [9]}) == {1: [2]}


def test_replicas_can_be_assigned_by_hand() -> None:
    assert decided(4, [[1, 2], [3, 2]]) == {2: [1, 2], 3: [3, 2]}


def test_a_topic_only_grows() -> None:
    assert code(decided(1)) is ErrorCode.INVALID_PARTITIONS
    assert decided(2) == Refusal(ErrorCode.INVALID_PARTITIONS, "Topic already has 2 partitions.")


def test_there_must_be_a_topic_that_is_at_rest() -> None:
    assert code(decided(3, existing={})) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert code(decided(3, is_reassigned=True)) is ErrorCode.REASSIGNMENT_IN_PROGRESS


def test_replicas_by_hand_must_be_as_many_and_alive_and_apart() -> None:
    invalid = ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert code(decided(3, [[1, 2], [1, 2]])) is invalid
    assert code(decided(3, [[1, 9]])) is invalid
    assert code(decided(3, [[]])) is invalid
    assert code(decided(3, [[1, 1]])) is invalid
    assert code(decided(3, [[1]])) is invalid
    assert code(decided(4, [[1, 2], [3]])) is invalid


def test_a_replica_set_as_large_as_the_cluster_must_still_be_there() -> None:
    answer = decided(2, existing={0: [1, 2, 3, 4]})
    assert code(answer) is ErrorCode.INVALID_REPLICATION_FACTOR
