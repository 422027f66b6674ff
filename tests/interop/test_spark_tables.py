"""Archives as tables of Delta and Iceberg, by their own packages, and back to topics.

The packages are for Spark 4.0 (`make spark-4.0`): for the newest Spark there are none yet.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.interop.maven import class_path
from tests.interop.programs import run_to_its_end
from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics
from tests.kafka.server.running import running_broker
from tests.pipelines.test_mirror import records

POM = "spark-tables-pom.xml"
SPARK = "4.0"
RUNS = 5  # Iceberg leaves fewer small files alone.
READ_WITHIN_S = 60.0
Row = tuple[int, bytes | None, bytes | None, int, list[tuple[str, bytes | None]]]


@dataclass
class Tables:
    """One of the formats: where its table is, and the settings that its package asks for."""

    file_format: str
    path: str
    settings: dict[str, str]
    history: str  # Files in which the format tells what it did,
    compaction: str  # and how it tells that it put files together.

    def compactions(self, directory: Path) -> list[Path]:
        """Files of the table's own history that tell of a compaction."""
        told = directory.glob(self.history)
        return [file for file in told if self.compaction in file.read_text()]

    def run(self, *arguments: str) -> dict[str, object]:
        """One pipeline, as a user runs it; what it says at the end."""
        jars = class_path(POM).replace(os.pathsep, ",")
        given = {"spark.jars": jars, "spark.ui.enabled": "false", **self.settings}
        conf = [word for key, value in given.items() for word in ("--conf", f"{key}={value}")]
        command = [sys.executable, "-m", "odradek.cli", "pipeline", *arguments, "--json"]
        master = ["--master", "local[2]", "--format", self.file_format]
        code, out, error = run_to_its_end([*command, *master, *conf])
        assert code == 0, error
        said: dict[str, object] = json.loads(out.splitlines()[-1])
        return said


def delta(directory: Path) -> Tables:
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    history = "table/_delta_log/*.json"
    return Tables("delta", str(directory / "table"), settings, history, '"operation":"OPTIMIZE"')


def iceberg(directory: Path) -> Tables:
    extensions = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    settings = {
        "spark.sql.extensions": extensions,
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": str(directory / "lake"),
    }
    history = "lake/shop/kept/metadata/*.metadata.json"
    return Tables("iceberg", "lake.shop.kept", settings, history, '"operation":"replace"')


@pytest.fixture(autouse=True, scope="module")
def _has_packages() -> None:
    try:
        here = version("pyspark")
    except PackageNotFoundError:
        pytest.skip("pyspark is not here")
    if not here.startswith(f"{SPARK}."):
        pytest.skip(f"the packages are for Spark {SPARK}, and this is {here}: make spark-{SPARK}")


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Topics]:
    with running_broker(tmp_path / "elsewhere") as broker, topics_of(broker.address) as made:
        yield made


@pytest.fixture
def topics(tmp_path: Path) -> Iterator[Topics]:
    with running_broker(tmp_path / "here") as broker, topics_of(broker.address) as made:
        yield made


@pytest.mark.parametrize("kind", [delta, iceberg])
def test_a_table_has_all_rows_once_and_becomes_the_topic_again(
    kind: Callable[[Path], Tables], topics: Topics, elsewhere: Topics, tmp_path: Path
) -> None:
    tables, topic = kind(tmp_path), topics.create(partitions=2, name="kept")
    here = ["--servers", topics.bootstrap_servers]
    keep = ["--checkpoint", str(tmp_path / "checkpoint")]
    for first in range(0, 60 * RUNS, 60):
        topics.append(topic, 0, records(first, first + 40))
        topics.append(topic, 1, records(first + 40, first + 60))
        said = tables.run("archive", topic, "--to", tables.path, *here, *keep)
        assert said["rows"] == 60
    assert tables.compactions(tmp_path), "small files are put together by the format's own means"
    assert tables.run("archive", topic, "--to", tables.path, *here, *keep)["rows"] == 0
    there = ["--servers", elsewhere.bootstrap_servers, "--keep-partitions"]
    replayed = tables.run("replay", tables.path, *there)
    assert replayed["records"] == 60 * RUNS
    assert rows_of(elsewhere, topic, 2) == rows_of(topics, topic, 2)


def rows_of(topics: Topics, topic: str, partitions: int) -> Sequence[Row]:
    """What a reader of committed records finds, partition by partition."""
    settings = {"bootstrap.servers": topics.bootstrap_servers, "group.id": "unused"}
    consumer = Consumer({**settings, "enable.partition.eof": True, "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition(topic, number) for number in range(partitions)])
    found: list[Row] = []
    ends = 0
    while ends < partitions:
        message = consumer.poll(READ_WITHIN_S)
        assert message is not None, f"only {len(found)} records came"
        if message.error():
            ends += 1  # The end of a partition.
            continue
        _, time_ms = message.timestamp()
        headers = list(message.headers() or [])
        found.append((message.partition(), message.key(), message.value(), time_ms, headers))
    consumer.close()
    return sorted(found, key=lambda row: row[0])
