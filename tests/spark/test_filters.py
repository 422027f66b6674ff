"""What filters spare, and what they leave for Spark to look at."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pyspark.sql.datasource import (
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    StringStartsWith,
)

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import OffsetRange
from odradek.spark.filters import Narrowing, narrow
from odradek.spark.reader import FilteringBatchReader
from tests.kafka.client.scripted import ScriptedCluster
from tests.spark.asking import fill, offsets, reader, rows_of

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def narrowed(*filters: Any) -> tuple[Narrowing, list[Any]]:
    narrowing, left = narrow(filters)
    return narrowing, list(left)


def cut(*filters: Any) -> tuple[int, int]:
    narrowing, left = narrowed(*filters)
    assert not left
    _, start, end = narrowing.cut(OffsetRange(T0, 10, 20), None)
    return start, end


def test_partitions_that_cannot_pass_are_not_read() -> None:
    narrowing, left = narrowed(EqualTo(("partition",), 1), EqualTo(("topic",), "t"))
    assert not left
    assert [narrowing.keeps(T0), narrowing.keeps(T1)] == [False, True]
    narrowing, left = narrowed(In(("partition",), (0, 2)))
    assert [narrowing.keeps(T0), narrowing.keeps(T1)] == [True, False]
    narrowing, left = narrowed(In(("topic",), ("a", "b")))
    assert not narrowing.keeps(T0)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ([GreaterThan(("offset",), 12)], (13, 20)),
        ([GreaterThanOrEqual(("offset",), 12)], (12, 20)),
        ([LessThan(("offset",), 12)], (10, 12)),
        ([LessThanOrEqual(("offset",), 12)], (10, 13)),
        ([EqualTo(("offset",), 12)], (12, 13)),
        ([EqualTo(("offset",), 12), EqualTo(("offset",), 13)], (13, 13)),
        ([GreaterThan(("offset",), 99)], (20, 20)),
        ([LessThan(("offset",), 3)], (10, 10)),
    ],
    ids=str,
)
def test_ranges_are_cut_to_offsets(filters: list[Any], expected: tuple[int, int]) -> None:
    assert cut(*filters) == expected


def test_a_time_moves_the_start_and_is_looked_at_again() -> None:
    late = datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=1)))
    late_ms = int(datetime(2026, 1, 1, 23, tzinfo=UTC).timestamp()) * 1000
    given = GreaterThanOrEqual(("timestamp",), late)
    narrowing, left = narrowed(given)
    assert left == [given]
    assert narrowing.time_ms_min is not None
    assert late_ms - 2 <= narrowing.time_ms_min <= late_ms
    assert narrowing.cut(OffsetRange(T0, 10, 20), 15) == OffsetRange(T0, 15, 20)
    assert narrowed(LessThan(("timestamp",), late))[0].time_ms_min is None


def test_what_is_never_null_needs_no_look() -> None:
    assert narrowed(IsNotNull(("offset",)), IsNotNull(("timestamp",)))[1] == []


@pytest.mark.parametrize(
    "filter_",
    [
        IsNotNull(("key",)),
        EqualTo(("value",), b"x"),
        EqualTo(("headers", "key"), "x"),
        EqualTo(("partition",), None),
        EqualTo(("partition",), "1"),
        In(("offset",), (1, 2)),
        StringStartsWith(("topic",), "t"),
    ],
    ids=str,
)
def test_the_rest_is_left_to_spark(filter_: Any) -> None:
    narrowing, left = narrowed(filter_)
    assert left == [filter_]
    assert narrowing == Narrowing()


@pytest.fixture
def cluster() -> Iterator[ScriptedCluster]:
    """Topic t with offsets 0 to 20 and 0 to 10, a record each second."""
    with ScriptedCluster() as scripted:
        scripted.create("t", leaders=[0, 0])
        fill(scripted, 0, 0, 20)
        fill(scripted, 1, 0, 10)
        yield scripted


def read_filtered(cluster: ScriptedCluster, *filters: Any) -> dict[str, list[int]]:
    plain: Any = reader(cluster)
    made = FilteringBatchReader(plain._options, plain._columns)
    assert list(made.pushFilters(list(filters))) == list(narrow(filters)[1])
    return offsets(rows_of(made, made.partitions()))


def test_what_is_filtered_out_is_not_read(cluster: ScriptedCluster) -> None:
    by_offset = GreaterThan(("offset",), 7), LessThan(("offset",), 9)
    assert read_filtered(cluster, EqualTo(("partition",), 0), *by_offset) == {"t-0": [8]}


def test_reading_starts_at_the_first_batch_that_is_late_enough(cluster: ScriptedCluster) -> None:
    late = GreaterThanOrEqual(("timestamp",), datetime.fromtimestamp(15, UTC))
    assert read_filtered(cluster, late) == {"t-0": [15, 16, 17, 18, 19]}
