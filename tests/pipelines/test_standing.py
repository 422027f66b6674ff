"""How a query stands is read from what Spark says of it, and is the same after JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from odradek.kafka.client.errors import TopicPartition
from odradek.pipelines.progress import Progress
from odradek.pipelines.standing import Standing, after_batch, after_round, standing_from_json

STARTED = Standing("q1", "q1", 1000)
SAID = {
    "name": "revenue",
    "batchId": 3,
    "numInputRows": 100,
    "processedRowsPerSecond": 50.5,
    "inputRowsPerSecond": 20.0,
    "sources": [{"endOffset": {"orders": {"0": 40, "1": 60}}}, {"endOffset": '{"more": {"2": 7}}'}],
    "sink": {"description": "Parquet"},
}


def test_rows_are_counted_and_offsets_are_the_last() -> None:
    once = after_batch(STARTED, SAID, 2000)
    twice = after_batch(once, SAID | {"batchId": 4}, 3000)
    assert (twice.name, twice.batch, twice.rows, twice.time_ms) == ("revenue", 4, 200, 3000)
    assert (twice.rows_per_s, twice.arriving_per_s, twice.sink) == (50.5, 20.0, "Parquet")
    assert twice.positions() == {
        TopicPartition("orders", 0): 40,
        TopicPartition("orders", 1): 60,
        TopicPartition("more", 2): 7,
    }


def test_an_idle_query_keeps_its_place() -> None:
    once = after_batch(STARTED, SAID, 2000)
    idle = after_batch(once, {}, 9000)
    assert idle == replace(once, time_ms=9000, rows_per_s=0.0, arriving_per_s=0.0)


@pytest.mark.parametrize("offset", [5, "12", {"logOffset": 3}, "none", None, [1]])
def test_sources_that_are_no_topics_have_no_offsets(offset: object) -> None:
    found = after_batch(STARTED, {"numInputRows": 5, "sources": [{"endOffset": offset}]}, 2000)
    assert (found.rows, found.positions()) == (5, {})


def test_a_pipeline_that_is_no_query_says_what_is_left() -> None:
    found = after_round(STARTED, Progress("mirror", 500, 20, 100.0), 2000)
    assert (found.name, found.rows, found.left, found.rows_per_s) == ("mirror", 500, 20, 100.0)


def test_a_standing_is_the_same_after_json() -> None:
    found = after_batch(STARTED, SAID, 2000).ended(3000, "out of disk")
    assert standing_from_json(json.loads(json.dumps(found.to_json()))) == found
    assert (found.is_running, found.rows_per_s) == (False, 0.0)
