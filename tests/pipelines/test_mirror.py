"""A mirror between two real brokers."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.group_offsets import commit_offsets, committed_offsets
from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record
from odradek.pipelines import mirror
from odradek.pipelines.mirror import MirrorRefused
from odradek.pipelines.progress import Progress
from odradek.runtime.clock import wall_clock_ms
from tests.kafka.client.topics import Topics

NOW_MS = wall_clock_ms()  # Older records would be deleted while we look.
HEADERS = (("trace", b"1"), ("empty", None))


def records(first: int, end: int) -> list[Record]:
    return [
        Record(n, NOW_MS + 10 * n, b"k%d" % (n % 7), b"v%d" % n, HEADERS[: n % 3])
        for n in range(first, end)
    ]


def rows(spark: SparkSession, topics: Topics, topic: str) -> list[tuple[Any, ...]]:
    """What readers of committed data find, partition by partition, without offsets."""
    frame = (
        spark.read.format("odradek")
        .option("kafka.bootstrap.servers", topics.bootstrap_servers)
        .option("kafka.isolation.level", "read_committed")
        .options(subscribe=topic, includeHeaders="true")
        .load()
        .orderBy("partition", "offset")
    )
    return [
        (row.partition, bytes(row.key), bytes(row.value), row.timestamp, row.headers)
        for row in frame.collect()
    ]


def test_a_mirror_keeps_all_but_the_offsets(
    spark: SparkSession, topics: Topics, elsewhere: Topics
) -> None:
    topic = topics.create(partitions=2, name="mirrored")
    topics.append(topic, 0, records(0, 250))
    topics.append(topic, 1, records(250, 300), Envelope(codec=Codec.LZ4))
    heard: list[Progress] = []
    done = mirror(
        topics.bootstrap_servers,
        elsewhere.bootstrap_servers,
        [topic],
        spark=spark,
        records_per_round=200,
        progress=heard.append,
    )
    assert done.records == 300
    assert rows(spark, elsewhere, topic) == rows(spark, topics, topic)
    assert heard[0].left == 50 and heard[-1].left == 0


def test_a_mirror_goes_on_where_it_stood(
    spark: SparkSession, topics: Topics, elsewhere: Topics
) -> None:
    topic = topics.create(name="resumed")
    here, there = topics.bootstrap_servers, elsewhere.bootstrap_servers
    counts = []
    for first in (0, 40, 80):
        topics.append(topic, 0, records(first, first + 40))
        counts.append(mirror(here, there, [topic], spark=spark).records)
    assert mirror(here, there, [topic], spark=spark).records == 0
    assert counts == [40, 40, 40]
    assert rows(spark, elsewhere, topic) == rows(spark, topics, topic)


def test_groups_go_on_at_the_record_they_stood_at(
    spark: SparkSession, topics: Topics, elsewhere: Topics
) -> None:
    topic = topics.create(name="grouped")
    here, there = topics.bootstrap_servers, elsewhere.bootstrap_servers
    group, where = f"group-of-{topic}", TopicPartition(topic, 0)
    for first in (0, 30):  # Two transactions, so offsets part ways.
        topics.append(topic, 0, records(first, first + 30))
        mirror(here, there, [topic], spark=spark)
    commit_offsets(topics.cluster, group, {where: 42})
    done = mirror(here, there, [topic], spark=spark, groups=["*"])
    (found,) = committed_offsets(elsewhere.cluster, group, [where]).values()
    assert done.groups[group] == {str(where): found}
    frame = spark.read.format("odradek").option("kafka.bootstrap.servers", there)
    next_row = frame.option("subscribe", topic).load().where(f"offset = {found}").head()
    assert next_row is not None and next_row.value == b"v42"
    assert found != 42


def test_new_partitions_and_configs_of_a_topic_follow(
    spark: SparkSession, topics: Topics, elsewhere: Topics
) -> None:
    topic = topics.create(partitions=1, name="growing")
    here, there = topics.bootstrap_servers, elsewhere.bootstrap_servers
    mirror(here, there, [topic], spark=spark)
    topics.add_partitions(topic, 3)
    topics.append(topic, 2, records(0, 5))
    mirror(here, there, [topic], spark=spark)
    assert elsewhere.cluster.partition_count(topic) == 3
    assert rows(spark, elsewhere, topic) == rows(spark, topics, topic)


def test_a_topic_is_not_copied_into_itself(topics: Topics) -> None:
    here = topics.bootstrap_servers
    with pytest.raises(MirrorRefused, match="one cluster"):
        mirror(here, here, ["any"])
