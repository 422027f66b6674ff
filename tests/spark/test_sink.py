"""The sink inside Spark, on a broker of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.wire.records import Record
from tests.kafka.client.topics import Topics
from tests.spark.versions import ASKS_SOURCES

TIME_MS = 1_800_000_000_000


def write(frame: DataFrame, topics: Topics, mode: str = "append", **given: str) -> None:
    options = {key.replace("_", "."): value for key, value in given.items()}
    servers = {"kafka.bootstrap.servers": topics.bootstrap_servers}
    frame.write.format("odradek").options(**servers, **options).mode(mode).save()


def read(spark: SparkSession, topics: Topics, topic: str, **given: str) -> list[Any]:
    options = {key.replace("_", "."): value for key, value in given.items()}
    servers = {"kafka.bootstrap.servers": topics.bootstrap_servers, "subscribe": topic}
    frame = spark.read.format("odradek").options(**servers, **options).load()
    return frame.orderBy("partition", "offset").collect()


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_rows_become_records_where_java_would_put_them(
    spark: SparkSession, topics: Topics, codec: str
) -> None:
    topic = topics.create(partitions=3)
    frame = spark.range(5000).selectExpr(
        "cast(id % 100 as string) key", "concat('value ', id) value", "id ignored"
    )
    write(frame, topics, topic=topic, kafka_compression_type=codec, kafka_batch_size="5000")
    rows = read(spark, topics, topic)
    assert sorted(int(row.value[6:]) for row in rows) == list(range(5000))
    assert all(row.partition == partition_of(bytes(row.key), 3) for row in rows)


def test_a_row_may_name_its_topic_its_partition_and_its_headers(
    spark: SparkSession, topics: Topics
) -> None:
    one, other = topics.create(partitions=2), topics.create(partitions=2)
    frame = spark.createDataFrame(
        [
            (one, 1, None, bytearray(b"a"), [("h", bytearray(b"1")), ("g", None)]),
            (other, 0, "k", None, None),
            (one, 0, "k", bytearray(b"b"), []),
        ],
        "topic string, partition int, key string, value binary,"
        " headers array<struct<key:string,value:binary>>",
    )
    write(frame, topics)
    first, second = read(spark, topics, one, includeHeaders="true")
    assert (first.partition, first.key, first.value, first.headers) == (0, b"k", b"b", None)
    assert (second.partition, second.key, second.value) == (1, None, b"a")
    assert [tuple(header) for header in second.headers] == [("h", b"1"), ("g", None)]
    (third,) = read(spark, topics, other)
    assert (third.partition, third.key, third.value) == (0, b"k", None)


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_acks_are_a_choice(spark: SparkSession, topics: Topics, acks: str) -> None:
    topic = topics.create()
    write(
        spark.range(10).selectExpr("cast(id as string) value"), topics, topic=topic, kafka_acks=acks
    )
    assert len(read(spark, topics, topic)) == 10


def test_all_that_is_wrong_is_named_before_a_task_runs(spark: SparkSession, topics: Topics) -> None:
    frame = spark.range(1).selectExpr("id value", "id partition")
    with pytest.raises(PySparkException) as raised:
        write(frame, topics, topik="t", kafka_acks="some", kafka_transactional_id="x")
    message = str(raised.value)
    for name in (
        "column value bigint: must be string or binary",
        "column partition bigint: must be int",
        "neither an option topic nor a column topic",
        "did you mean topic?",
        "kafka.acks=some",
        "kafka.transactional.id is not supported",
    ):
        assert name in message


def test_a_topic_cannot_be_overwritten(spark: SparkSession, topics: Topics) -> None:
    frame = spark.range(1).selectExpr("cast(id as string) value")
    with pytest.raises(PySparkException, match="can only be appended to"):
        write(frame, topics, "overwrite", topic=topics.create())


def test_a_row_that_no_partition_takes_fails_the_query(spark: SparkSession, topics: Topics) -> None:
    topic = topics.create(partitions=2)
    frame = spark.range(1).selectExpr("'v' value", "7 partition")
    with pytest.raises(PySparkException, match=f"partition 7: {topic} has partitions 0 to 1"):
        write(frame, topics, topic=topic)


def copy(
    spark: SparkSession, topics: Topics, one: str, other: str, directory: Path, **given: str
) -> None:
    """Copy what is available now from one topic to another, going on from where it stopped."""
    limit = {"maxOffsetsPerTrigger": "400"} if ASKS_SOURCES else {}
    options = {key.replace("_", "."): value for key, value in given.items()}
    servers = {"kafka.bootstrap.servers": topics.bootstrap_servers}
    stream = (
        spark.readStream.format("odradek")
        .options(**servers, subscribe=one, startingOffsets="earliest", **limit)
        .load()
        .select("key", "value", "partition")
    )
    query = (
        stream.writeStream.format("odradek")
        .options(**servers, topic=other, **options)
        .option("checkpointLocation", str(directory / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def numbered(first: int, end: int) -> list[Record]:
    return [Record(n, TIME_MS + n, b"k%d" % n, b"%d" % n) for n in range(first, end)]


@pytest.mark.parametrize("delivery", ["at-least-once", "exactly-once"])
def test_a_stream_copies_a_topic(
    spark: SparkSession, topics: Topics, tmp_path: Path, delivery: str
) -> None:
    one, other = topics.create(partitions=2), topics.create(partitions=2)
    for partition in (0, 1):
        topics.append(one, partition, numbered(0, 500))
    copy(spark, topics, one, other, tmp_path, delivery=delivery)
    topics.append(one, 0, numbered(500, 600))
    copy(spark, topics, one, other, tmp_path, delivery=delivery)
    rows = read(spark, topics, other, kafka_isolation_level="read_committed")
    found = [(row.partition, int(row.value)) for row in rows]
    expected = [(0, n) for n in range(600)] + [(1, n) for n in range(500)]
    assert found == expected
