"""Streams that tell a group how far they are, and queries that start from there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import commit_offsets, committed_offsets
from odradek.spark.limits import Bound, Committed
from odradek.spark.option_errors import InvalidOptions
from odradek.spark.options import parse_options
from tests.kafka.client.topics import Topics
from tests.spark.test_spark import numbered, run_stream, table
from tests.spark.versions import if_sources_are_asked

SERVERS = {"kafka.bootstrap.servers": "a:1", "subscribe": "t"}


def test_a_group_is_needed_and_batches_have_no_progress() -> None:
    wrong = {**SERVERS, "commitOffsets": "true", "startingOffsets": "committed"}
    with pytest.raises(InvalidOptions) as raised:
        parse_options(wrong, is_stream=False)
    for words in (
        "commitOffsets is for streams",
        "commitOffsets needs kafka.group.id",
        "startingOffsets=committed needs kafka.group.id",
    ):
        assert words in str(raised.value)


@pytest.mark.parametrize(("is_stream", "bound"), [(True, Bound.LATEST), (False, Bound.EARLIEST)])
def test_where_nothing_is_committed_the_default_counts(is_stream: bool, bound: Bound) -> None:
    given = {**SERVERS, "startingOffsets": "committed", "kafka.group.id": "g"}
    assert parse_options(given, is_stream=is_stream).starting == Committed("g", bound)


def test_a_time_goes_before_the_group() -> None:
    given = {**SERVERS, "startingOffsets": "committed", "startingTimestamp": "5"}
    assert not isinstance(parse_options(given, is_stream=True).starting, Committed)


@if_sources_are_asked
def test_a_stream_commits_all_that_it_has_done_its_last_batch_too(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create(partitions=2)
    group = {"commitOffsets": "true", "kafka_group_id": topic, "startingOffsets": "earliest"}
    topics.append(topic, 0, numbered(0, 50))
    run_stream(spark, topics, topic, tmp_path, **group)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    found = committed_offsets(topics.cluster, topic, [first, second])
    assert found == {first: 50, second: 0}


def test_a_query_starts_where_its_group_stands(spark: SparkSession, topics: Topics) -> None:
    topic = topics.create(partitions=2)
    for partition in (0, 1):
        topics.append(topic, partition, numbered(0, 10))
    commit_offsets(topics.cluster, topic, {TopicPartition(topic, 0): 7})
    group = {"startingOffsets": "committed", "kafka_group_id": topic}
    rows = table(spark, topics, topic, **group).select("partition", "offset").collect()
    assert sorted(map(tuple, rows)) == [(0, 7), (0, 8), (0, 9)] + [(1, n) for n in range(10)]
