"""The source inside Spark, on a broker of ours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, datasource
from pyspark.sql.pandas.types import to_arrow_schema

from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record
from odradek.spark.arrow.columns import WITH_HEADERS, schema_of
from tests.kafka.client.topics import Topics
from tests.spark.versions import if_sources_are_asked

TIME_MS = 1_800_000_000_000
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def numbered(first: int, end: int) -> list[Record]:
    return [Record(n, TIME_MS + n, b"k%d" % n, b"value %d" % n) for n in range(first, end)]


def options(topics: Topics, topic: str, **given: str) -> dict[str, str]:
    named = {key.replace("_", "."): value for key, value in given.items()}
    here = {"kafka.bootstrap.servers": topics.bootstrap_servers, "subscribe": topic}
    return {**here, **named}


def table(spark: SparkSession, topics: Topics, topic: str, **given: str) -> DataFrame:
    return spark.read.format("odradek").options(**options(topics, topic, **given)).load()


def run_stream(
    spark: SparkSession, topics: Topics, topic: str, directory: Path, **given: str
) -> None:
    """Write what is available now to Parquet, going on from where the last run stopped."""
    stream = spark.readStream.format("odradek").options(**options(topics, topic, **given)).load()
    query = (
        stream.writeStream.format("parquet")
        .option("path", str(directory / "out"))
        .option("checkpointLocation", str(directory / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def written(spark: SparkSession, directory: Path) -> list[tuple[int, int]]:
    rows = spark.read.parquet(str(directory / "out")).select("partition", "offset").collect()
    return sorted((row.partition, row.offset) for row in rows)


def test_the_schema_is_that_of_sparks_own_connector(spark: SparkSession, topics: Topics) -> None:
    found = table(spark, topics, "any", includeHeaders="true").schema
    assert found.simpleString() == (
        "struct<key:binary,value:binary,topic:string,partition:int,offset:bigint,"
        "timestamp:timestamp,timestampType:int,headers:array<struct<key:string,value:binary>>>"
    )
    assert all(field.nullable for field in found)
    zone: Any = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}
    assert to_arrow_schema(found, **zone) == schema_of(WITH_HEADERS)


def test_records_are_rows(spark: SparkSession, topics: Topics) -> None:
    topic = topics.create()
    headers = (("h", b"x"), ("g", None))
    topics.append(topic, 0, [Record(0, TIME_MS, b"k", b"v", headers), Record(1, 0, None, None)])
    first, second = table(spark, topics, topic, includeHeaders="true").orderBy("offset").collect()
    assert (first.key, first.value, first.topic, first.partition) == (b"k", b"v", topic, 0)
    assert first.timestamp.timestamp() * 1000 == TIME_MS
    assert [tuple(header) for header in first.headers] == [("h", b"x"), ("g", None)]
    assert (second.key, second.value, second.headers, second.timestampType) == (None,) * 3 + (0,)


@pytest.mark.parametrize("codec", Codec)
def test_every_row_arrives_once_and_whole_though_memory_is_used_again(
    spark: SparkSession, topics: Topics, codec: Codec
) -> None:
    topic = topics.create(partitions=2)
    for partition in (0, 1):
        topics.append(topic, partition, numbered(0, 3000), Envelope(codec=codec))
    small = {"kafka_max_partition_fetch_bytes": "8000", "minPartitions": "3"}
    found = table(spark, topics, topic, **small)
    assert found.rdd.getNumPartitions() >= 3
    rows = found.selectExpr("partition", "offset", "cast(value as string) value").collect()
    assert sorted(map(tuple, rows)) == [
        (partition, n, f"value {n}") for partition in (0, 1) for n in range(3000)
    ]


def test_a_restarted_stream_goes_on_where_it_stopped(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create(partitions=2)
    start = {"startingOffsets": "earliest"}
    topics.append(topic, 0, numbered(0, 100))
    run_stream(spark, topics, topic, tmp_path, **start)
    assert written(spark, tmp_path) == [(0, n) for n in range(100)]
    topics.append(topic, 0, numbered(100, 110))
    topics.append(topic, 1, numbered(0, 5))
    run_stream(spark, topics, topic, tmp_path, **start)
    expected = [(0, n) for n in range(110)] + [(1, n) for n in range(5)]
    assert written(spark, tmp_path) == expected
    assert f'{{"{topic}": {{"0": 110, "1": 5}}}}' in newest(tmp_path / "checkpoint" / "offsets")


def newest(directory: Path) -> str:
    files = sorted(directory.glob("[0-9]*"), key=lambda file: int(file.name))
    return files[-1].read_text()


@if_sources_are_asked
def test_what_is_available_is_read_in_batches_of_the_most_one_may(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create()
    topics.append(topic, 0, numbered(0, 100))
    limit = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": "40"}
    run_stream(spark, topics, topic, tmp_path, **limit)
    assert written(spark, tmp_path) == [(0, n) for n in range(100)]
    batches = list((tmp_path / "checkpoint" / "commits").glob("[0-9]*"))
    assert len(batches) == 3  # 40, 40 and 20.


def test_a_stream_finds_new_partitions(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    topic = topics.create()
    topics.append(topic, 0, numbered(0, 3))
    run_stream(spark, topics, topic, tmp_path, startingOffsets="earliest")
    topics.add_partitions(topic, 2)
    topics.append(topic, 1, numbered(0, 2))
    run_stream(spark, topics, topic, tmp_path)
    assert written(spark, tmp_path) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)


@pytest.mark.parametrize("is_pushed", ["true", "false"])
def test_filters_give_the_same_rows_pushed_down_or_not(
    spark: SparkSession, topics: Topics, is_pushed: str
) -> None:
    topic = topics.create(partitions=2)
    for partition in (0, 1):
        topics.append(topic, partition, numbered(0, 300))
    with setting(spark, PUSHDOWN, is_pushed):
        found = table(spark, topics, topic, columns="partition,offset,timestamp").where(
            f"partition = 1 and offset < 250 and timestamp >= timestamp_millis({TIME_MS + 200})"
        )
        assert sorted(row.offset for row in found.collect()) == list(range(200, 250))
        tasks = found.rdd.getNumPartitions()
    assert tasks == (1 if is_pushed == "true" and hasattr(datasource, "Filter") else 2)


@pytest.mark.parametrize("kind", ["batch", "stream"])
def test_wrong_options_are_all_named_and_no_task_runs(
    spark: SparkSession, topics: Topics, tmp_path: Path, kind: str
) -> None:
    wrong = {"minPartitions": "none", "startingOfsets": "earliest", "kafka_ssl_protocol": "TLS"}
    topic = topics.create()
    with pytest.raises(PySparkException) as raised:
        if kind == "batch":
            table(spark, topics, topic, **wrong).collect()
        else:
            run_stream(spark, topics, topic, tmp_path, **wrong)
    message = str(raised.value)
    for name in ("minPartitions=none", "did you mean startingOffsets", "kafka.ssl.protocol"):
        assert name in message


def test_a_lost_beginning_fails_the_query_by_name(spark: SparkSession, topics: Topics) -> None:
    topic = topics.create()
    topics.append(topic, 0, numbered(0, 10))
    missing: Any = table(
        spark,
        topics,
        topic,
        startingOffsets=f'{{"{topic}":{{"0":50}}}}',
        endingOffsets=f'{{"{topic}":{{"0":60}}}}',
    )
    with pytest.raises(PySparkException, match=f"{topic}-0 has no offset 50"):
        missing.collect()
