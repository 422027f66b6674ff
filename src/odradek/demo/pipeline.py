"""What Spark does with the orders: parse, join with the catalogue, sum up by window, write.

Two queries run side by side. One writes each order with its product to Parquet; the other sums up
by window and category, and writes each sum to a topic once its window is over, exactly once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from odradek.demo.orders import BELL, LATE_MS_MAX, WINDOW_MS, Total, Totals
from odradek.demo.shop import ORDERS, PRODUCTS_TOPIC, REVENUE
from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.kafka.client.settings import client_settings
from odradek.local.cluster import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

STDERR = 2
SUMS_WITHIN_S = 300.0
ORDER = "order_id bigint, customer string, product_id string, quantity int, at_ms bigint"
PRODUCT = "product_id string, name string, category string, price_cents int"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
# The demo is over before the second compiler's work pays: without it Spark takes half the time.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LOGGING = """rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {file}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}}: %m%n%ex
"""


def start_spark(directory: Path) -> SparkSession:
    """A session on this machine, which keeps its files in the demo's directory."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("odradek demo")
    builder = builder.config("spark.sql.warehouse.dir", str(directory / "warehouse"))
    logging = directory / "log4j2.properties"
    logging.write_text(LOGGING.format(file=directory / "spark.log"))
    builder = builder.config(
        "spark.driver.extraJavaOptions",
        f"{QUICK_JAVA} -Dlog4j.configurationFile={logging.as_uri()}",
    )
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    with errors_to(directory / "spark.err"):
        return builder.getOrCreate()


@contextmanager
def errors_to(file: Path) -> Iterator[None]:
    """Let what is started in the block write its errors to a file.

    Spark's workers complain when a query is stopped in the middle of a question.
    """
    ours = os.dup(STDERR)
    with file.open("ab") as theirs:
        os.dup2(theirs.fileno(), STDERR)
    try:
        yield
    finally:
        os.dup2(ours, STDERR)
        os.close(ours)


class Pipeline:
    """The two queries, and what has become of them."""

    def __init__(self, spark: SparkSession, servers: str, directory: Path) -> None:
        self._spark = spark
        self._servers = {"kafka.bootstrap.servers": servers}
        self._directory = directory
        self.parquet = directory / "orders.parquet"
        self._queries: list[StreamingQuery] = []

    def start(self) -> None:
        enriched = self._enriched()
        self._queries = [self._archive(enriched), self._sum_up(enriched)]

    def await_sums(self) -> None:
        """Return when the first windows are over and their sums are in the topic."""
        cluster = shared_cluster(
            client_settings({"bootstrap.servers": self._servers["kafka.bootstrap.servers"]})
        )

        def has_sums() -> bool:
            self._check()
            wanted = dict.fromkeys(cluster.partitions_of([REVENUE]), LATEST)
            return any(list_offsets(cluster, wanted).values())

        wait_until(has_sums, "the first sums", SUMS_WITHIN_S)

    def _check(self) -> None:
        """Raise what a query has failed with."""
        for query in self._queries:
            if (failure := query.exception()) is not None:
                raise failure

    def catch_up(self) -> None:
        """Return when all that is in the topic has gone through both queries."""
        for query in self._queries:
            query.processAllAvailable()

    def stop(self) -> None:
        for query in self._queries:
            query.stop()

    def _enriched(self) -> DataFrame:
        """Orders as they come, each with its product; what cannot be read has none."""
        stream = (
            self._spark.readStream.format("odradek")
            .options(**self._servers, subscribe=ORDERS, startingOffsets="earliest")
            .option("columns", "value,partition,offset")
            .load()
        )
        orders = stream.selectExpr(
            "partition", "offset", f"from_json(cast(value as string), '{ORDER}') as o"
        ).selectExpr("partition", "offset", "o.*", "timestamp_millis(o.at_ms) as at")
        return orders.join(self._catalogue().hint("broadcast"), "product_id", "left")

    def _catalogue(self) -> DataFrame:
        """The newest entry of each product in the compacted topic."""
        from pyspark.sql.functions import expr

        topic = (
            self._spark.read.format("odradek")
            .options(**self._servers, subscribe=PRODUCTS_TOPIC)
            .option("columns", "key,value,offset")
            .load()
        )
        newest = topic.groupBy("key").agg(expr("max_by(value, offset) as value"))
        parsed = newest.selectExpr(f"from_json(cast(value as string), '{PRODUCT}') as p")
        return parsed.select("p.*")

    def _archive(self, enriched: DataFrame) -> StreamingQuery:
        return (
            enriched.writeStream.queryName("orders to Parquet")
            .format("parquet")
            .option("path", str(self.parquet))
            .option("checkpointLocation", str(self._directory / "checkpoints" / "archive"))
            .start()
        )

    def _sum_up(self, enriched: DataFrame) -> StreamingQuery:
        from pyspark.sql.functions import expr, window

        sums = (
            enriched.withWatermark("at", f"{LATE_MS_MAX} milliseconds")
            .where("category is not null")
            .groupBy(window("at", f"{WINDOW_MS} milliseconds"), "category")
            .agg(expr("count(*) as orders"), expr("sum(quantity * price_cents) as cents"))
            .selectExpr("unix_millis(window.start) as window_ms", "category", "orders", "cents")
        )
        rows = sums.selectExpr(
            "concat(window_ms, '/', category) as key",
            "to_json(struct(window_ms, category, orders, cents)) as value",
        )
        return (
            rows.writeStream.queryName("sums to revenue")
            .format("odradek")
            .options(**self._servers, topic=REVENUE, delivery="exactly-once")
            .option("checkpointLocation", str(self._directory / "checkpoints" / "revenue"))
            .start()
        )

    def totals_in_topic(self) -> Totals:
        """The sum of each window and category, as readers of committed data find it.

        A sum that is there twice is added up twice, and will not be what it should be.
        """
        options = {**self._servers, "kafka.isolation.level": "read_committed"}
        topic = self._spark.read.format("odradek").options(**options, subscribe=REVENUE).load()
        found: Totals = {}
        for row in topic.select("value").collect():
            one = json.loads(bytes(row.value))
            key = one["window_ms"], one["category"]
            count, cents = found.get(key, Total(0, 0))
            found[key] = Total(count + one["orders"], cents + one["cents"])
        return found

    def totals_in_parquet(self) -> Totals:
        """The same sums, made from the files."""
        from pyspark.sql.functions import expr

        start = f"at_ms - at_ms % {WINDOW_MS}"
        rows = (
            self._spark.read.parquet(str(self.parquet))
            .where(f"category is not null and customer <> '{BELL}'")
            .selectExpr(f"{start} as window_ms", "category", "quantity * price_cents as cents")
            .groupBy("window_ms", "category")
            .agg(expr("count(*) as orders"), expr("sum(cents) as cents"))
            .collect()
        )
        return {(row.window_ms, row.category): Total(row.orders, row.cents) for row in rows}

    def counts_in_parquet(self) -> tuple[int, int, int]:
        """How many rows there are, how many different orders, how many that cannot be read.

        The bell that closes the shop is none of them.
        """
        (row,) = (
            self._spark.read.parquet(str(self.parquet))
            .where(f"not customer <=> '{BELL}'")
            .selectExpr(
                "count(*) as rows",
                "count(distinct case when category is not null then order_id end) as orders",
                "count_if(category is null) as broken",
            )
            .collect()
        )
        return row.rows, row.orders, row.broken
