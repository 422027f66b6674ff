"""The demo's shop and its Spark job add up, on a broker of ours."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from odradek.cli.demo import close_books
from odradek.demo.pipeline import Pipeline
from odradek.demo.shop import Shop
from tests.kafka.client.topics import Topics
from tests.waiting import wait_until


def test_what_comes_out_of_the_streams_is_what_went_in(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    shop = Shop(topics.bootstrap_servers)
    shop.set_up()
    shop.open(per_second=400)
    pipeline = Pipeline(spark, topics.bootstrap_servers, tmp_path)
    try:
        pipeline.start()
        wait_until(lambda: len(shop.orders) > 500 and shop.broken_count)
        accounts = close_books(shop, pipeline)
    finally:
        pipeline.stop()
    assert accounts.differences() == []
    assert accounts.order_count == len(shop.orders) > 500
