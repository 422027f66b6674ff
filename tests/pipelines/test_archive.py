"""An archive in Parquet, its compaction, and its replay, on real brokers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from odradek.kafka.wire.records import Record
from odradek.pipelines import archive, compact, replay
from odradek.pipelines.archive import default_checkpoint, subscription
from odradek.pipelines.files import FormatRefused, read_files
from odradek.pipelines.progress import Progress
from odradek.pipelines.replay import ReplayRefused
from tests.kafka.client.topics import Topics
from tests.pipelines.test_mirror import NOW_MS, records, rows
from tests.spark.versions import ASKS_SOURCES

DAY_MS = 86_400_000


def archived(spark: SparkSession, path: Path) -> list[tuple[Any, ...]]:
    frame = read_files(spark, str(path)).orderBy("topic", "partition", "offset")
    return [
        (row.topic, row.partition, row.offset, row.key, row.value, row.timestamp, row.headers)
        for row in frame.collect()
    ]


def in_topic(spark: SparkSession, topics: Topics, topic: str) -> list[tuple[Any, ...]]:
    frame = (
        spark.read.format("odradek")
        .option("kafka.bootstrap.servers", topics.bootstrap_servers)
        .options(subscribe=topic, includeHeaders="true")
        .load()
        .orderBy("topic", "partition", "offset")
    )
    return [
        (row.topic, row.partition, row.offset, row.key, row.value, row.timestamp, row.headers)
        for row in frame.collect()
    ]


def data_files(path: Path) -> set[Path]:
    return set(path.glob("topic=*/date=*/*.parquet"))


class Kept:
    """An archive of one topic, made in three runs, with a file for each run and partition."""

    def __init__(self, spark: SparkSession, topics: Topics, path: Path) -> None:
        self.topic, self.path = topics.create(partitions=2, name="kept"), path
        self.counts: list[int] = []
        self.heard: list[Progress] = []
        self._spark, self._topics = spark, topics
        for first in (0, 60, 120):
            topics.append(self.topic, 0, records(first, first + 40))
            topics.append(self.topic, 1, records(first + 40, first + 60))
            self.run(compacts=False)

    def run(self, **given: Any) -> None:
        servers, path = self._topics.bootstrap_servers, str(self.path)
        given = {"spark": self._spark, "progress": self.heard.append, **given}
        self.counts.append(archive(servers, [self.topic], path, **given).rows)


@pytest.fixture(scope="module")
def kept(spark: SparkSession, topics: Topics, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(spark, topics, tmp_path_factory.mktemp("kept") / "an archive")


def test_an_archive_has_all_rows_once_and_goes_on_where_it_ended(
    spark: SparkSession, topics: Topics, kept: Kept
) -> None:
    assert kept.counts == [60, 60, 60]
    left = 0 if ASKS_SOURCES else None  # It is asked how far it is, too.
    assert [(one.done, one.left) for one in kept.heard] == [(60, left)] * 3
    assert archived(spark, kept.path) == in_topic(spark, topics, kept.topic)


def test_compaction_leaves_the_rows_and_takes_the_files(
    spark: SparkSession, topics: Topics, kept: Kept
) -> None:
    path = kept.path
    before, files = archived(spark, path), data_files(path)
    reading = read_files(spark, str(path))  # Has looked at the list, and at no file.
    done = compact(spark, str(path), files_min=2)
    assert (done.files_before, done.files_after, done.removed) == (6, 1, 0)
    assert archived(spark, path) == before
    assert reading.selectExpr("count(value)").head() == (180,), "its files are still there"
    orphan = next(iter(files)).with_name("part-of-a-killed-task.parquet")
    orphan.write_bytes(b"")
    swept = compact(spark, str(path), grace_s=-1)
    assert swept.removed == 7 and len(data_files(path)) == 1
    topics.append(kept.topic, 0, records(180, 190))
    kept.run(grace_s=-1)
    assert kept.counts[-1] == 10
    assert archived(spark, path) == in_topic(spark, topics, kept.topic)


def test_an_archive_ends_when_all_that_was_there_is_in_it(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    """However small its micro-batches are: an older Spark has but one of them."""
    topic = topics.create(name="in-many-batches")
    topics.append(topic, 0, records(0, 100))
    path = str(tmp_path / "archive")
    done = archive(topics.bootstrap_servers, [topic], path, spark=spark, rows_per_batch=40)
    assert (done.rows, done.batches) == (100, 3 if ASKS_SOURCES else 1)


def test_rows_are_in_the_folder_of_their_topic_and_day(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic, path = topics.create(name="007"), tmp_path / "archive"
    today = NOW_MS // DAY_MS
    at_ms = [DAY_MS * (today - 1), DAY_MS * today - 1, DAY_MS * today]
    topics.append(topic, 0, [Record(n, ms, None, b"%d" % n) for n, ms in enumerate(at_ms)])
    archive(topics.bootstrap_servers, [topic], str(path), spark=spark)
    found = read_files(spark, str(path)).selectExpr("topic", "cast(date as date) as date", "value")
    days = {bytes(row.value): row.date for row in found.collect()}
    yesterday = date(1970, 1, 1) + timedelta(days=today - 1)
    assert days == {b"0": yesterday, b"1": yesterday, b"2": yesterday + timedelta(days=1)}
    assert {row.topic for row in found.collect()} == {topic}


def test_following_goes_on_until_it_is_stopped(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic, stop = topics.create(name="followed"), threading.Event()
    topics.append(topic, 0, records(0, 10))
    rounds: list[Callable[[], None]] = [
        lambda: topics.append(topic, 0, records(10, 20)),
        stop.set,
    ]
    done = archive(
        topics.bootstrap_servers,
        [topic],
        str(tmp_path / "archive"),
        spark=spark,
        follow=True,
        trigger_s=0.1,
        compact_after_batches=1,
        progress=lambda heard: rounds.pop(0)(),
        stop=stop,
    )
    assert done.rows == 20
    assert archived(spark, tmp_path / "archive") == in_topic(spark, topics, topic)


def test_a_format_that_spark_has_not_is_refused_by_name(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    for file_format, package in (("delta", "delta-spark"), ("iceberg", "iceberg-spark")):
        with pytest.raises(FormatRefused, match=package):
            archive("", ["t"], str(tmp_path), spark=spark, file_format=file_format)
    with pytest.raises(FormatRefused, match="no format csv"):
        archive("", ["t"], str(tmp_path), spark=spark, file_format="csv")


def test_progress_is_kept_beside_the_files_and_a_table_has_no_such_place() -> None:
    assert default_checkpoint("s3a://b/archive/", "delta") == "s3a://b/archive/_checkpoint"
    with pytest.raises(FormatRefused, match="say where its checkpoint"):
        default_checkpoint("lake.shop.kept", "iceberg")


def test_a_star_stands_for_all_topics_but_internal_ones() -> None:
    import re

    pattern = subscription(["orders*", "a.b"])["subscribePattern"]
    names = ["orders", "orders-2", "a.b", "axb", "__consumer_offsets", "odradek-syncs"]
    assert [name for name in names if re.fullmatch(pattern, name)] == names[:3]
    everything = subscription(["*"])["subscribePattern"]
    assert [name for name in names if re.fullmatch(everything, name)] == names[:4]


def test_a_replay_to_the_same_partitions_is_the_topic_again(
    spark: SparkSession, topics: Topics, elsewhere: Topics, kept: Kept
) -> None:
    heard: list[Progress] = []
    done = replay(
        str(kept.path),
        elsewhere.bootstrap_servers,
        spark=spark,
        keep_partitions=True,
        records_per_round=100,
        records_per_transaction=30,
        progress=heard.append,
    )
    assert done.records == done.archived >= 180
    assert rows(spark, elsewhere, kept.topic) == rows(spark, topics, kept.topic)
    assert len(heard) == 2 and heard[0].left and heard[1].left == 0
    again = replay(str(kept.path), elsewhere.bootstrap_servers, spark=spark, keep_partitions=True)
    assert again.records == 0, "it is there already"


def test_a_replay_by_key_keeps_the_order_of_each_key(
    spark: SparkSession, elsewhere: Topics, kept: Kept
) -> None:
    target = elsewhere.create(partitions=3, name="by-key")
    done = replay(
        str(kept.path),
        elsewhere.bootstrap_servers,
        spark=spark,
        to=target,
        where="partition = 0 and offset < 120",
    )
    assert done.records == 120
    found = rows(spark, elsewhere, target)
    assert len(found) == 120 and len({row[0] for row in found}) > 1
    for key in {row[1] for row in found}:
        numbers = [int(row[2][1:]) for row in found if row[1] == key]
        assert numbers == sorted(numbers)
        assert len({row[0] for row in found if row[1] == key}) == 1


def test_files_without_an_order_are_not_replayed(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).selectExpr("cast(id as string) as key", "'' as value").write.parquet(
        str(tmp_path / "files")
    )
    with pytest.raises(ReplayRefused, match="topic, partition, offset"):
        replay(str(tmp_path / "files"), "localhost:1", spark=spark)
