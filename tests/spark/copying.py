"""A query that copies a topic exactly once, as a program of its own: it can be killed.

python -m tests.spark.copying SERVERS FROM TO CHECKPOINT
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession


def main(servers: str, one: str, other: str, checkpoint: str) -> None:
    builder = SparkSession.builder.master("local[2,8]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.log.level", "OFF").getOrCreate()
    here = {"kafka.bootstrap.servers": servers}
    stream = (
        spark.readStream.format("odradek")
        .options(**here, subscribe=one, startingOffsets="earliest", maxOffsetsPerTrigger="60")
        .load()
    )
    query = (
        stream.select("key", "value", "partition")
        .writeStream.format("odradek")
        .options(**here, topic=other, delivery="exactly-once")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
