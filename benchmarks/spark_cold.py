"""A first query in a process of its own: `python -m benchmarks.spark_cold KIND SERVERS TOPIC JARS`.

It prints how long Spark took to start, with a query of its own done, and then how long the first
query of the source took.
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

from odradek.spark.python import prepare_python


def first_query(kind: str, servers: str, topic: str, jars: str) -> tuple[float, float]:
    """Seconds of Spark's start, and of the query."""
    command = [sys.executable, "-m", "benchmarks.spark_cold", kind, servers, topic, jars]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    start, query = said.split()[-2:]
    return float(start), float(query)


def main(kind: str, servers: str, topic: str, jars: str) -> None:
    began = perf_counter()
    prepare_python()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.log.level", "OFF").config("spark.jars", jars)
    spark = builder.getOrCreate()
    spark.range(1).write.format("noop").mode("overwrite").save()
    started = perf_counter()
    if kind == "bare":
        from benchmarks.spark_bare import BareSource

        spark.dataSource.register(BareSource)
        options = {"partitions": "4"}
    else:
        options = {"kafka.bootstrap.servers": servers, "subscribe": topic}
    table = spark.read.format(kind).options(**options).load()
    table.write.format("noop").mode("overwrite").save()
    print(started - began, perf_counter() - started)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
