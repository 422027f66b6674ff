"""How ranges are cut and rates are limited, by the figures of Spark's own connector."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import OffsetRange
from odradek.spark.planning import count_new, group_ranges, limit_rate, split_ranges

P = [TopicPartition("t", n) for n in range(4)]


def cut(*sizes: int, least: int | None = None, most: int | None = None) -> list[tuple[int, ...]]:
    ranges = [OffsetRange(P[n], 0, size) for n, size in enumerate(sizes)]
    return [(r.partition.partition, r.start, r.end) for r in split_ranges(ranges, least, most)]


def test_a_partition_is_a_task_and_an_empty_one_is_none() -> None:
    assert cut(10, 0, 5) == [(0, 0, 10), (2, 0, 5)]


def test_large_ranges_are_cut_until_there_are_enough() -> None:
    assert cut(100, least=3) == [(0, 0, 33), (0, 33, 66), (0, 66, 100)]
    assert cut(1, 1000, least=3) == [(0, 0, 1), (1, 0, 500), (1, 500, 1000)]


def test_enough_partitions_are_left_as_they_are() -> None:
    assert cut(10, 10, 10, least=3) == [(0, 0, 10), (1, 0, 10), (2, 0, 10)]


def test_no_task_has_more_records_than_it_may() -> None:
    assert cut(10, most=4) == [(0, 0, 3), (0, 3, 6), (0, 6, 10)]


def test_both_ways_of_cutting_go_together() -> None:
    assert cut(10, most=5, least=4) == [(0, 0, 2), (0, 2, 5), (0, 5, 7), (0, 7, 10)]


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=4),
    st.none() | st.integers(1, 50),
    st.none() | st.integers(1, 50),
)
def test_cutting_neither_loses_nor_doubles(
    sizes: list[int], least: int | None, most: int | None
) -> None:
    parts = cut(*sizes, least=least, most=most)
    for number, size in enumerate(sizes):
        mine = [(start, end) for partition, start, end in parts if partition == number]
        assert sum(end - start for start, end in mine) == size
        assert all(one[1] == other[0] for one, other in pairwise(mine))
        assert all(start < end for start, end in mine)
        if most is not None:
            assert all(end - start <= most for start, end in mine)


def grouped(*sizes: int, least: int | None) -> list[list[int]]:
    ranges = [OffsetRange(P[n], 0, size) for n, size in enumerate(sizes)]
    return [[one.end for one in group] for group in group_ranges(ranges, least)]


def test_small_partitions_share_a_task_if_asked_for() -> None:
    assert grouped(1, 2, 3, least=None) == [[1], [2], [3]]
    assert grouped(1, 2, 3, 4, least=3) == [[1, 2], [3], [4]]
    assert grouped(1, 2, 3, 4, least=100) == [[1, 2, 3, 4]]
    assert grouped(least=5) == []


def test_two_ranges_of_one_partition_are_two_tasks() -> None:
    ranges = [OffsetRange(P[0], 0, 1), OffsetRange(P[0], 1, 2), OffsetRange(P[1], 0, 1)]
    assert group_ranges(ranges, 100) == [ranges[:1], ranges[1:]]


def test_a_rate_is_shared_by_backlog() -> None:
    limited = limit_rate(10, {P[0]: 0, P[1]: 0}, {P[0]: 75, P[1]: 25})
    assert limited == {P[0]: 7, P[1]: 2}


def test_a_small_share_is_still_one() -> None:
    assert limit_rate(10, {P[0]: 0, P[1]: 0}, {P[0]: 10_000, P[1]: 1}) == {P[0]: 9, P[1]: 1}


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    end = {P[0]: 5, P[1]: 3}
    assert limit_rate(100, {P[0]: 0, P[1]: 3}, end) == end


def test_new_records_are_counted() -> None:
    assert count_new({P[0]: 5}, {P[0]: 8, P[1]: 2}) == 5
