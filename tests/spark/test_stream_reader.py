"""Streams against a scripted cluster: where micro-batches end, what is new, what is gone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from odradek.spark import stream as module
from odradek.spark.api import ReadAllAvailable, ReadMaxRows, ReadMinRows
from odradek.spark.data_loss import DataLost
from tests.kafka.client.scripted import Log, ScriptedCluster
from tests.spark.asking import fill, offsets, rows_of, stream

Json = dict[str, dict[str, int]]


@pytest.fixture
def cluster() -> Iterator[ScriptedCluster]:
    with ScriptedCluster() as scripted:
        scripted.create("t", leaders=[0, 0])
        fill(scripted, 0, 0, 20)
        fill(scripted, 1, 0, 10)
        yield scripted


def at(first: int, second: int) -> Json:
    return {"t": {"0": first, "1": second}}


def rows_between(made: Any, start: Json, end: Json) -> dict[str, list[int]]:
    return offsets(rows_of(made, made.partitions(start, end)))


def test_a_stream_starts_at_the_latest_offset_by_default(cluster: ScriptedCluster) -> None:
    made = stream(cluster)
    assert made.initialOffset() == at(20, 10)
    assert stream(cluster, startingOffsets="earliest").initialOffset() == at(0, 0)
    assert stream(cluster, startingTimestamp="5000").initialOffset() == at(5, 5)


def test_a_micro_batch_ends_where_the_log_does(cluster: ScriptedCluster) -> None:
    made = stream(cluster)
    assert made.latestOffset(at(0, 0), ReadAllAvailable()) == at(20, 10)
    assert made.reportLatestOffset() == at(20, 10)
    fill(cluster, 0, 20, 25)
    assert made.latestOffset(at(20, 10), made.getDefaultReadLimit()) == at(25, 10)
    assert rows_between(made, at(20, 10), at(25, 10)) == {"t-0": [20, 21, 22, 23, 24]}


def test_a_micro_batch_is_read_again_as_it_was(cluster: ScriptedCluster) -> None:
    first = rows_between(stream(cluster), at(3, 0), at(9, 2))
    fill(cluster, 0, 20, 40)
    assert rows_between(stream(cluster), at(3, 0), at(9, 2)) == first
    assert first == {"t-0": [3, 4, 5, 6, 7, 8], "t-1": [0, 1]}


def test_the_most_is_shared_by_backlog(cluster: ScriptedCluster) -> None:
    made = stream(cluster, maxOffsetsPerTrigger="9")
    assert made.getDefaultReadLimit() == ReadMaxRows(9)
    assert made.latestOffset(at(0, 0), ReadMaxRows(9)) == at(6, 3)
    assert made.latestOffset(at(0, 0), ReadAllAvailable()) == at(20, 10)


def test_before_spark_4_2_the_stream_knows_where_it_stands(cluster: ScriptedCluster) -> None:
    made = stream(cluster, maxOffsetsPerTrigger="9", startingOffsets="earliest")
    made.initialOffset()
    assert made.latestOffset() == at(6, 3)
    made.partitions(at(0, 0), at(6, 3))
    assert made.latestOffset() == at(12, 6)


def test_a_stream_waits_for_the_least_but_not_for_ever(
    cluster: ScriptedCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    made = stream(cluster, minOffsetsPerTrigger="5", maxTriggerDelay="1m")
    assert made.getDefaultReadLimit() == ReadMinRows(5)
    limit = made.getDefaultReadLimit()
    assert made.latestOffset(at(0, 0), limit) == at(20, 10)
    fill(cluster, 1, 10, 12)
    assert made.latestOffset(at(20, 10), limit) == at(20, 10)
    fill(cluster, 1, 12, 15)
    assert made.latestOffset(at(20, 10), limit) == at(20, 15)
    fill(cluster, 1, 15, 16)
    now[0] += 59
    assert made.latestOffset(at(20, 15), limit) == at(20, 15)
    now[0] += 1
    assert made.latestOffset(at(20, 15), limit) == at(20, 16)


def test_what_is_available_now_is_what_there_was_at_first(cluster: ScriptedCluster) -> None:
    made = stream(cluster, maxOffsetsPerTrigger="20", minOffsetsPerTrigger="11")
    made.prepareForTriggerAvailableNow()
    limit = made.getDefaultReadLimit()
    first = made.latestOffset(at(0, 0), limit)
    assert first == at(13, 6)
    fill(cluster, 0, 20, 99)
    assert made.latestOffset(first, limit) == at(20, 10)
    assert made.latestOffset(at(20, 10), limit) == at(20, 10)


def test_new_partitions_are_read_from_their_beginning(cluster: ScriptedCluster) -> None:
    made = stream(cluster, maxOffsetsPerTrigger="3")
    cluster.logs["t"][2] = Log(leader=0)
    fill(cluster, 2, 0, 10)
    end = made.latestOffset(at(20, 10), ReadMaxRows(3))
    assert end == {"t": {"0": 20, "1": 10, "2": 3}}
    assert rows_between(made, at(20, 10), end) == {"t-2": [0, 1, 2]}


def test_new_topics_are_found_by_their_pattern(cluster: ScriptedCluster) -> None:
    made = stream(cluster, subscribePattern="t.*")
    cluster.create("t2", leaders=[0])
    fill(cluster, 0, 0, 2, topic="t2")
    assert made.latestOffset(at(20, 10), ReadAllAvailable()) == {**at(20, 10), "t2": {"0": 2}}


def test_a_new_partition_that_has_lost_its_beginning_fails_the_query(
    cluster: ScriptedCluster,
) -> None:
    cluster.logs["t"][2] = Log(leader=0, start=4)
    fill(cluster, 2, 4, 6)
    end = {"t": {"0": 20, "1": 10, "2": 6}}
    with pytest.raises(DataLost, match="t-2 is new, yet starts from offset 4"):
        stream(cluster).partitions(at(20, 10), end)
    lenient = stream(cluster, failOnDataLoss="false")
    assert rows_between(lenient, at(20, 10), end) == {"t-2": [4, 5]}


def test_partitions_that_are_gone_fail_the_query(cluster: ScriptedCluster) -> None:
    with pytest.raises(DataLost, match="t-1 are gone"):
        stream(cluster).partitions(at(20, 10), {"t": {"0": 20}})


def test_offsets_that_go_back_fail_the_query(cluster: ScriptedCluster) -> None:
    with pytest.raises(DataLost, match="t-0 went back from offset 20 to 3"):
        stream(cluster).partitions(at(20, 10), at(3, 10))


def test_an_end_that_goes_back_is_looked_up_again(cluster: ScriptedCluster) -> None:
    made = stream(cluster, fetchOffset_numRetries="2", fetchOffset_retryIntervalMs="0")
    before = len(cluster.asked)
    assert made.latestOffset(at(30, 10), ReadAllAvailable()) == at(20, 10)
    lookups = [m for m in cluster.asked[before:] if type(m).__name__ == "ListOffsetsRequest"]
    assert len(lookups) == 3


def test_large_micro_batches_are_cut_into_tasks(cluster: ScriptedCluster) -> None:
    made = stream(cluster, minPartitions="4")
    assert len(made.partitions(at(0, 0), at(20, 10))) == 4
    assert made.partitions(at(20, 10), at(20, 10)) == []
