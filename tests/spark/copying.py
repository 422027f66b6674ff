"""A query that copies a topic exactly once, as a program of its own: it can be killed.

python -m tests.spark.copying SERVERS FROM TO CHECKPOINT TRIGGER

TRIGGER is `now` for what is there now, or `ever` for a query that never ends.
"""

from __future__ import annotations

import sys
from typing import Any

from pyspark.sql import SparkSession

from odradek.spark.python import prepare_python

TRIGGERS: dict[str, dict[str, Any]] = {
    "now": {"availableNow": True},
    "ever": {"processingTime": "0 seconds"},
}
ROWS_A_BATCH = 60


def main(servers: str, one: str, other: str, checkpoint: str, trigger: str) -> None:
    prepare_python()
    builder = SparkSession.builder.master("local[2,8]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "OFF").getOrCreate()
    here = {"kafka.bootstrap.servers": servers}
    limit = str(ROWS_A_BATCH)
    stream = (
        spark.readStream.format("odradek")
        .options(**here, subscribe=one, startingOffsets="earliest", maxOffsetsPerTrigger=limit)
        .load()
    )
    query = (
        stream.select("key", "value", "partition")
        .writeStream.format("odradek")
        .options(**here, topic=other, delivery="exactly-once")
        .option("checkpointLocation", checkpoint)
        .trigger(**TRIGGERS[trigger])
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
