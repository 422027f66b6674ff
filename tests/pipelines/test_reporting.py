"""What queries of a session say of themselves is in the cluster's topic, also how they end."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from odradek.console.pipelines import Reports
from odradek.pipelines import Progress, Reporter, report_progress
from odradek.pipelines.reporting import ensure_topic, write
from odradek.pipelines.standing import Standing
from tests.kafka.client.topics import Topics
from tests.pipelines.test_mirror import records
from tests.waiting import wait_until

PATIENCE_S = 300.0


def test_a_query_over_our_source_is_seen_at_work_and_at_its_end(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.create(partitions=2)
    topics.append(topic, 0, records(0, 3))
    with report_progress(spark, topics.bootstrap_servers):
        query = (
            spark.readStream.format("odradek")
            .option("kafka.bootstrap.servers", topics.bootstrap_servers)
            .options(subscribe=topic, startingOffsets="earliest")
            .load()
            .writeStream.format("noop")
            .queryName("reported")
            .option("checkpointLocation", str(tmp_path))
            .start()
        )
        wait_until(lambda: has_rows(topics, query.id, 3), PATIENCE_S)
        running = known(topics)[query.id]
        assert (running.name, running.is_running) == ("reported", True)
        assert running.offsets == {topic: {"0": 3, "1": 0}}
        topics.append(topic, 1, records(3, 4))
        query.processAllAvailable()
        query.stop()
    ended = known(topics)[query.id]
    assert (ended.is_running, ended.trouble, ended.rows) == (False, "", 4)
    topics.append(topic, 1, records(4, 5))
    assert Reports().read(topics.cluster)[query.id].lag == 1


def has_rows(topics: Topics, query: str, count: int) -> bool:
    found = known(topics).get(query)
    return found is not None and found.rows == count


def known(topics: Topics) -> dict[str, Standing]:
    return {name: it.standing for name, it in Reports().read(topics.cluster).items()}


def test_a_pipeline_that_is_no_query_reports_too(topics: Topics) -> None:
    before = set(known(topics))
    with Reporter(topics.bootstrap_servers) as reporter:
        reporter.hear(Progress("mirror", 10, 5, 2.0))
        reporter.hear(Progress("mirror", 15, 0, 2.0))
    (found,) = (it for name, it in known(topics).items() if name not in before)
    assert (found.name, found.rows, found.left, found.is_running) == ("mirror", 15, 0, False)


def test_a_failure_is_told_in_one_line(topics: Topics) -> None:
    with Reporter(topics.bootstrap_servers) as reporter:
        reporter.started("q-failed", None)
        reporter.ended("q-failed", "no such column\nat line 1")
    assert known(topics)["q-failed"].trouble == "no such column"


def test_the_topic_is_made_once(topics: Topics) -> None:
    properties = {"bootstrap.servers": topics.bootstrap_servers}
    for time_ms in (1, 2):
        ensure_topic(properties)
        write(properties, [Standing("q-twice", "n", time_ms)])
    assert known(topics)["q-twice"].time_ms == 2
