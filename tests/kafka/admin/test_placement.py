"""Replicas are placed as Apache Kafka's algorithm places them from the same start."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.admin.placement import Assignment, Candidate, alternated, place
from odradek.kafka.admin.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode

RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}


def placed(
    brokers: list[Candidate], partitions: int, factor: int, start: int = 0, first: int = 0
) -> Assignment:
    """Start and shift are the same, as where Kafka fixes them."""
    assignment = place(brokers, partitions, factor, lambda _: start, first)
    assert not isinstance(assignment, Refusal), assignment
    return assignment


def test_replicas_go_round_and_the_next_round_keeps_more_distance() -> None:
    """The table that Apache's own test expects."""
    brokers = [Candidate(number) for number in range(5)]
    assert placed(brokers, 10, 3) == {
        0: [0, 1, 2],
        1: [1, 2, 3],
        2: [2, 3, 4],
        3: [3, 4, 0],
        4: [4, 0, 1],
        5: [0, 2, 3],
        6: [1, 3, 4],
        7: [2, 4, 0],
        8: [3, 0, 1],
        9: [4, 1, 2],
    }


def test_racks_take_turns() -> None:
    """The tables that Apache's own test expects."""
    assert alternated(RACKS) == [0, 3, 1, 5, 4, 2]
    assert alternated({it: rack for it, rack in RACKS.items() if it != 5}) == [0, 3, 1, 4, 2]
    brokers = [Candidate(*item) for item in RACKS.items()]
    assert placed(brokers, 7, 3) == {
        0: [0, 3, 1],
        1: [3, 1, 5],
        2: [1, 5, 4],
        3: [5, 4, 2],
        4: [4, 2, 0],
        5: [2, 0, 3],
        6: [0, 4, 2],
    }


def test_start_and_shift_are_drawn_apart_and_below_the_number_of_brokers() -> None:
    drawn: list[int] = []

    def chance(limit: int) -> int:
        drawn.append(limit)
        return len(drawn)

    brokers = [Candidate(number) for number in range(3)]
    assert place(brokers, 1, 2, chance) == {0: [1, 2]}
    assert drawn == [3, 3]


def test_one_broker_holds_everything() -> None:
    assert placed([Candidate(7)], 3, 1) == {0: [7], 1: [7], 2: [7]}


def test_added_partitions_go_on_where_the_others_ended() -> None:
    brokers = [Candidate(number) for number in range(3)]
    whole = placed(brokers, 6, 2, start=1)
    assert placed(brokers, 2, 2, start=1, first=1) == {it: whole[it] for it in (1, 2)}


@given(
    racks=st.lists(st.sampled_from("abc"), min_size=1, max_size=9),
    partitions=st.integers(1, 40),
    data=st.data(),
)
def test_no_rack_gets_a_second_replica_before_each_has_one(
    racks: list[str], partitions: int, data: st.DataObject
) -> None:
    factor = data.draw(st.integers(1, len(racks)))
    start = data.draw(st.integers(0, len(racks) - 1))
    brokers = [Candidate(number, rack) for number, rack in enumerate(racks)]
    assignment = placed(brokers, partitions, factor, start)
    assert list(assignment) == list(range(partitions))
    for replicas in assignment.values():
        assert len(set(replicas)) == len(replicas) == factor
        held = Counter(racks[broker] for broker in replicas)
        assert len(held) == min(factor, len(set(racks)))
    leaders = Counter(replicas[0] for replicas in assignment.values())
    assert max(leaders.values()) <= -(-partitions // len(racks))


def refusal(partitions: int, factor: int, *brokers: Candidate) -> Refusal:
    answer = place(brokers, partitions, factor, lambda _: 0)
    assert isinstance(answer, Refusal)
    return answer


def test_what_cannot_be_placed_is_refused() -> None:
    one = Candidate(1)
    assert refusal(0, 1, one).code is ErrorCode.INVALID_PARTITIONS
    assert refusal(-2, 1, one).code is ErrorCode.INVALID_PARTITIONS
    assert refusal(1, 0, one).code is ErrorCode.INVALID_REPLICATION_FACTOR
    assert refusal(1, 2, one) == Refusal(
        ErrorCode.INVALID_REPLICATION_FACTOR,
        "Replication factor: 2 larger than available brokers: 1.",
    )
    assert refusal(1, 1).code is ErrorCode.INVALID_REPLICATION_FACTOR


def test_brokers_with_and_without_racks_are_not_mixed() -> None:
    answer = refusal(1, 1, Candidate(1, "a"), Candidate(2))
    assert answer == Refusal(ErrorCode.UNKNOWN_SERVER_ERROR)
