"""`format("odradek")` beside Spark's own connector: equal rows, offsets and refusals.

Both read the same topics with the same options, on Apache's broker and on ours; and what was
written for `format("kafka")` works on ours as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer

from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.records import Record
from tests.interop.kafka_pair import Brokers
from tests.interop.maven import class_path
from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

if find_spec("pyspark") is None:
    pytest.skip("pyspark is not here", allow_module_level=True)

POM = "spark-pom.xml"
CONNECTORS = ("kafka", "odradek")
TIME_MS = 1_800_000_000_000
RECORDS = 300  # Of each partition and codec.
WITHIN_S = 120
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session that has the connector's jars."""
    from pyspark.sql import SparkSession

    from odradek.spark.python import prepare_python

    jars = class_path(POM).replace(os.pathsep, ",")
    prepare_python(tmp_path_factory.mktemp("python"))
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="module", params=["ours", "theirs"])
def topics(request: pytest.FixtureRequest, brokers: Brokers) -> Iterator[Topics]:
    """Topics of one broker, then of the other."""
    with topics_of(getattr(brokers, request.param).address) as made:
        yield made


@pytest.fixture(scope="module")
def topic(topics: Topics) -> str:
    """Three partitions: every codec, headers, nulls, empty values, and one partition without."""
    made = topics.create(3, "mixed")
    for number, codec in enumerate(Codec):
        records = [_record(number * RECORDS + n) for n in range(RECORDS)]
        for partition in (0, 1):
            some = records if partition == 0 else records[: RECORDS // 3]
            topics.append(made, partition, some, Envelope(codec=codec))
    return made


def _record(n: int) -> Record:
    headers = tuple((f"h{i}", None if i == 1 else b"%d" % n) for i in range(n % 3))
    key = None if n % 7 == 0 else b"key %d" % (n % 11)
    value = None if n % 13 == 0 else b"value %d" % n * (n % 5)
    return Record(n, TIME_MS + n, key, value, headers)


def frame(spark: SparkSession, kind: str, topics: Topics, **options: str) -> DataFrame:
    named = {key.replace("_", "."): value for key, value in options.items()}
    servers = {"kafka.bootstrap.servers": topics.bootstrap_servers}
    return spark.read.format(kind).options(**servers, **named).load()


def rows(table: DataFrame) -> list[Any]:
    return table.orderBy("topic", "partition", "offset").collect()


def tasks(table: DataFrame) -> list[Any]:
    """What each task reads; theirs has tasks that read nothing, too."""
    grouped = table.selectExpr("*", "spark_partition_id() task").groupBy("task", "partition")
    found = grouped.agg({"offset": "min", "timestamp": "max", "*": "count"}).collect()
    return sorted((row["partition"], row["min(offset)"], row["count(1)"]) for row in found)


def specific(topic: str, *offsets: int) -> str:
    return json.dumps({topic: {str(partition): n for partition, n in enumerate(offsets)}})


# Each makes the options from the name of the topic.
OPTIONS: dict[str, Any] = {
    "all of it": lambda topic: {},
    "headers": lambda topic: {"includeHeaders": "true"},
    "from the earliest": lambda topic: {"startingOffsets": "earliest", "endingOffsets": "latest"},
    "between offsets": lambda topic: {
        "startingOffsets": specific(topic, 17, 0, 0),
        "endingOffsets": specific(topic, 903, 55, 0),
    },
    "ends by number": lambda topic: {
        "startingOffsets": specific(topic, -2, -2, -2),
        "endingOffsets": specific(topic, -1, 20, -1),
    },
    "from a time": lambda topic: {
        "startingTimestamp": str(TIME_MS + 320),
        "startingOffsetsByTimestampStrategy": "latest",
    },
    "up to a time": lambda topic: {"endingTimestamp": str(TIME_MS + 350)},
    "from times": lambda topic: {
        "startingOffsetsByTimestamp": specific(topic, TIME_MS + 5, TIME_MS + 310, TIME_MS),
        "startingOffsetsByTimestampStrategy": "latest",
    },
    "up to times": lambda topic: {
        "endingOffsetsByTimestamp": specific(topic, TIME_MS + 5, TIME_MS + 310, TIME_MS)
    },
    "a time goes before offsets": lambda topic: {
        "startingOffsets": "earliest",
        "startingTimestamp": str(TIME_MS + 320),
        "startingOffsetsByTimestampStrategy": "latest",
    },
    "many tasks": lambda topic: {"minPartitions": "9"},
    "small tasks": lambda topic: {"maxRecordsPerPartition": "101"},
    "small tasks, and many": lambda topic: {"maxRecordsPerPartition": "400", "minPartitions": "7"},
    "committed only": lambda topic: {"kafka_isolation_level": "read_committed"},
    "data may be lost": lambda topic: {
        "startingOffsets": specific(topic, 5, 0, 0),
        "failOnDataLoss": "false",
    },
    "small fetches": lambda topic: {"kafka_max_partition_fetch_bytes": "2000"},
}


# In a batch query theirs heeds maxRecordsPerPartition only beside minPartitions.
CUT_BY_US_ALONE = {"small tasks"}


@pytest.mark.parametrize("name", OPTIONS)
def test_rows_and_tasks_are_the_same(
    spark: SparkSession, topics: Topics, topic: str, name: str
) -> None:
    options = {"subscribe": topic, **OPTIONS[name](topic)}
    theirs, ours = (frame(spark, kind, topics, **options) for kind in CONNECTORS)
    assert ours.schema == theirs.schema
    expected = rows(theirs)
    assert expected and rows(ours) == expected
    if name not in CUT_BY_US_ALONE:
        assert tasks(ours) == tasks(theirs)


@pytest.mark.parametrize(
    "strategy", ["subscribe", "several", "subscribePattern", "assign", "assign some"]
)
def test_every_way_to_choose_topics_chooses_the_same(
    spark: SparkSession, topics: Topics, topic: str, strategy: str
) -> None:
    other = topics.create(1, "other")
    topics.append(other, 0, [_record(n) for n in range(5)])
    options = {
        "subscribe": {"subscribe": other},
        "several": {"subscribe": f"{topic}, {other}"},
        "subscribePattern": {"subscribePattern": f"(mixed|{other}).*"},
        "assign": {"assign": json.dumps({topic: [0, 1, 2], other: [0]})},
        "assign some": {"assign": json.dumps({topic: [1]})},
    }[strategy]
    expected = rows(frame(spark, "kafka", topics, **options))
    assert expected and rows(frame(spark, "odradek", topics, **options)) == expected


@pytest.mark.parametrize("level", ["read_committed", "read_uncommitted"])
def test_aborted_records_are_seen_by_both_or_by_none(
    spark: SparkSession, topics: Topics, level: str
) -> None:
    made = topics.create(2, "transactions")
    producer = Producer(
        {"bootstrap.servers": topics.bootstrap_servers, "transactional.id": f"{made}-{level}"}
    )
    producer.init_transactions(WITHIN_S)
    for number in range(6):
        producer.begin_transaction()
        for n in range(10):
            producer.produce(made, b"%d of %d" % (n, number), partition=n % 2)
        producer.flush(WITHIN_S)  # What was not sent would be no more than forgotten.
        end = producer.abort_transaction if number % 3 == 1 else producer.commit_transaction
        end(WITHIN_S)
    options = {"subscribe": made, "kafka_isolation_level": level}
    expected = rows(frame(spark, "kafka", topics, **options))
    assert len(expected) == (40 if level == "read_committed" else 60)
    assert rows(frame(spark, "odradek", topics, **options)) == expected


REFUSED: dict[str, Any] = {
    "no strategy": lambda topic: {},
    "two strategies": lambda topic: {"subscribe": topic, "assign": specific(topic, 0)},
    "a batch from the latest": lambda topic: {"subscribe": topic, "startingOffsets": "latest"},
    "a batch up to the earliest": lambda topic: {"subscribe": topic, "endingOffsets": "earliest"},
    "latest by number": lambda topic: {
        "subscribe": topic,
        "startingOffsets": specific(topic, -1, 0, 0),
    },
    "a partition too few": lambda topic: {
        "subscribe": topic,
        "startingOffsets": specific(topic, 0, 0),
    },
    "a partition too many": lambda topic: {
        "subscribe": topic,
        "endingOffsets": specific(topic, 9, 9, 0, 0),
    },
    "no record as late": lambda topic: {
        "subscribe": topic,
        "startingTimestamp": str(TIME_MS + 10**9),
    },
    "a reset": lambda topic: {"subscribe": topic, "kafka_auto_offset_reset": "earliest"},
    "a deserialiser": lambda topic: {"subscribe": topic, "kafka_key_deserializer": "any"},
    "automatic commits": lambda topic: {"subscribe": topic, "kafka_enable_auto_commit": "true"},
    "interceptors": lambda topic: {"subscribe": topic, "kafka_interceptor_classes": "any"},
    "no number": lambda topic: {"subscribe": topic, "minPartitions": "some"},
    "lost data": lambda topic: {
        "subscribe": topic,
        "startingOffsets": specific(topic, 10**6, 0, 0),
        "endingOffsets": specific(topic, 10**6 + 5, 0, 0),
    },
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("kind", CONNECTORS)
def test_what_one_refuses_the_other_refuses(
    spark: SparkSession, topics: Topics, topic: str, name: str, kind: str
) -> None:
    from pyspark.errors import PySparkException

    options = {"kafkaConsumer_pollTimeoutMs": "3000", **REFUSED[name](topic)}
    java_error = import_module("py4j.protocol").Py4JJavaError  # An `assert` of Scala's.
    with pytest.raises((PySparkException, java_error)):
        rows(frame(spark, kind, topics, **options))


def run_stream(
    spark: SparkSession, kind: str, topics: Topics, directory: Path, **options: str
) -> list[dict[str, dict[str, int]]]:
    """Write what there is to Parquet; give the offsets of each micro-batch by its checkpoint."""
    servers = {"kafka.bootstrap.servers": topics.bootstrap_servers}
    query = (
        spark.readStream.format(kind)
        .options(**servers, **options)
        .load()
        .writeStream.format("parquet")
        .option("path", str(directory / kind))
        .option("checkpointLocation", str(directory / f"{kind}-checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    files = (directory / f"{kind}-checkpoint" / "offsets").glob("[0-9]*")
    ordered = sorted(files, key=lambda file: int(file.name))
    return [json.loads(file.read_text().splitlines()[-1]) for file in ordered]


@pytest.mark.parametrize(
    "options",
    [{}, {"maxOffsetsPerTrigger": "700"}, {"minPartitions": "5", "maxOffsetsPerTrigger": "999"}],
    ids=["all", "limited", "limited, many tasks"],
)
def test_streams_have_the_same_batches_and_rows_and_go_on_alike(
    spark: SparkSession, topics: Topics, tmp_path: Path, options: dict[str, str]
) -> None:
    made = topics.create(2, "stream")
    given = {"subscribe": made, "startingOffsets": "earliest", "includeHeaders": "true", **options}
    for first in (0, 1500):  # The second time from a checkpoint.
        for partition, count in ((0, 1500), (1, 200)):
            topics.append(made, partition, [_record(first + n) for n in range(count)])
        theirs, ours = (run_stream(spark, kind, topics, tmp_path, **given) for kind in CONNECTORS)
        assert ours == theirs
    expected, found = (rows(spark.read.parquet(str(tmp_path / kind))) for kind in CONNECTORS)
    assert len(expected) == 3400 and found == expected


@pytest.mark.parametrize("kind", CONNECTORS)
def test_a_checkpoint_of_one_is_taken_up_by_the_other(
    spark: SparkSession, topics: Topics, tmp_path: Path, kind: str
) -> None:
    """Whoever moves from one to the other keeps the place, if the checkpoint is moved along."""
    made = topics.create(1, "moved")
    topics.append(made, 0, [_record(n) for n in range(50)])
    given = {"subscribe": made, "startingOffsets": "earliest"}
    (offsets,) = run_stream(spark, kind, topics, tmp_path, **given)
    topics.append(made, 0, [_record(n) for n in range(50, 60)])
    (other,) = set(CONNECTORS) - {kind}
    went_on = run_stream(
        spark, other, topics, tmp_path, subscribe=made, startingOffsets=json.dumps(offsets)
    )
    assert went_on[-1] == {made: {"0": 60}}
    found = rows(spark.read.parquet(str(tmp_path / other)))
    assert [row.offset for row in found] == list(range(50, 60))


@pytest.mark.parametrize("codec", ["none", "lz4"])
def test_both_write_the_same_records_to_the_same_partitions(
    spark: SparkSession, topics: Topics, codec: str
) -> None:
    source = spark.range(2000).selectExpr(
        "if(id % 10 = 0, null, concat('k', id % 97)) key",
        "if(id % 9 = 0, null, concat('value ', id)) value",
        "if(id % 10 = 0, cast(id % 3 as int), null) partition",
        "array(struct('n' as key, cast(cast(id as string) as binary) as value)) headers",
    )
    written = []
    for kind in CONNECTORS:
        made = topics.create(3, f"written-by-{kind}")
        options = {"topic": made, "kafka.compression.type": codec}
        servers = {"kafka.bootstrap.servers": topics.bootstrap_servers}
        source.write.format(kind).options(**servers, **options).mode("append").save()
        for reader in CONNECTORS:
            found = frame(spark, reader, topics, subscribe=made, includeHeaders="true")
            chosen = found.select("partition", "key", "value", "headers").collect()
            written.append(sorted(chosen, key=lambda row: int(row.headers[0].value)))
    assert len(written[0]) == 2000
    assert written[0] == written[1] == written[2] == written[3]


def test_a_job_written_for_kafka_runs_on_this_broker(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    """Read, transform, write and read again, all with `format("kafka")`."""
    made = topics.create(2, "job")
    servers = {"kafka.bootstrap.servers": topics.bootstrap_servers}
    query = (
        spark.readStream.format("kafka")
        .options(**servers, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="800")
        .load()
        .selectExpr("key", "upper(cast(value as string)) value")
        .writeStream.format("kafka")
        .options(**servers, topic=made, checkpointLocation=str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    before = rows(frame(spark, "kafka", topics, subscribe=topic))
    after = rows(frame(spark, "kafka", topics, subscribe=made))
    expected = sorted((row.key or b"", (row.value or b"").upper()) for row in before)
    assert sorted((row.key or b"", row.value or b"") for row in after) == expected
