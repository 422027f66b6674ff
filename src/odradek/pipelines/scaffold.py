"""`odradek pipeline init`: a project of Spark Declarative Pipelines over our source and sink.

It runs as it is: a stream of a topic into a table, a view of sums over the table, and a sink that
writes each row that could be read to another topic.
"""

from __future__ import annotations

import re
from pathlib import Path

from odradek.runtime.errors import OdradekError

SPEC = """# A pipeline over topics: `spark-pipelines run` brings everything up to date, then ends.
# `spark-pipelines dry-run` looks for mistakes without touching data.
name: {name}
storage: {storage}
configuration:
  spark.sql.shuffle.partitions: "2"
libraries:
  - glob:
      include: transformations/**
"""

TABLES = '''"""From a topic to a table, and a view over it."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, count, expr

SERVERS = {servers!r}
SOURCE = {source!r}

spark = SparkSession.active()


@dp.table
def records() -> DataFrame:
    """Each record of the topic once, its value as text."""
    topic = (
        spark.readStream.format("odradek")
        .option("kafka.bootstrap.servers", SERVERS)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", SOURCE)
        .option("startingOffsets", "earliest")
        .load()
    )
    return topic.select(
        col("key").cast("string").alias("key"),
        col("value").cast("string").alias("value"),
        "partition",
        "offset",
        "timestamp",
    )


@dp.materialized_view
def records_by_key() -> DataFrame:
    """How many records each key has, and its newest value."""
    newest = expr("max_by(value, struct(timestamp, partition, offset)) as newest")
    return spark.read.table("records").groupBy("key").agg(count("*").alias("records"), newest)
'''

SINK = '''"""From a table to another topic."""

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

SERVERS = {servers!r}
TARGET = {target!r}

spark = SparkSession.active()

dp.create_sink(
    "copies",
    "odradek",
    {{"kafka.bootstrap.servers": SERVERS, "topic": TARGET, "delivery": "exactly-once"}},
)


@dp.append_flow(target="copies")
def copy() -> DataFrame:
    """Each record of the table as JSON; change this to whatever the topic should have."""
    rows = spark.readStream.table("records")
    return rows.selectExpr("key", "to_json(struct(value, partition, offset)) as value")
'''

README = """# {name}

A pipeline of Spark over topics, made by `odradek pipeline init`.

    spark-pipelines run        # from {source} on {servers} to {target}
    spark-pipelines dry-run

That forgets its tables when it ends. To go on from run to run have it remember them, in a catalog
of Hive beside this file:

    spark-pipelines run --conf spark.sql.catalogImplementation=hive

* `spark-pipeline.yml`: its name, its settings, and where it keeps its checkpoints.
* `transformations/tables.py`: topic `{source}` → table `records` → view `records_by_key`.
* `transformations/sink.py`: table `records` → topic `{target}`, exactly once.

It needs `pip install 'odradek[spark,pipelines]'` and a Java from 17 on. Tables are in
`spark-warehouse`, the catalog in `metastore_db`, checkpoints in `storage`:
remove all three to begin anew.
"""


class ScaffoldRefused(OdradekError):
    """A project is not made over what is there."""


def scaffold(directory: Path, servers: str, source: str, target: str) -> list[Path]:
    """Make the files of a project; return them. The folder must be new or empty."""
    where = directory.resolve()
    if where.exists() and (not where.is_dir() or any(where.iterdir())):
        raise ScaffoldRefused(f"{directory} is not empty: a project is made in a new folder")
    words = {
        "name": re.sub(r"\W+", "_", where.name) or "pipeline",
        "servers": servers,
        "source": source,
        "target": target,
        "storage": (where / "storage").as_uri(),
    }
    files = {
        "spark-pipeline.yml": SPEC,
        "transformations/tables.py": TABLES,
        "transformations/sink.py": SINK,
        "README.md": README,
    }
    made = []
    for name, text in files.items():
        file = where / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.format(**words))
        made.append(file)
    (where / "storage").mkdir()
    return made
