"""The demo's shop and its Spark job add up, on a broker of ours."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from pyspark.sql import SparkSession

from odradek.cli.demo import close_books
from odradek.demo.pipeline import Pipeline
from odradek.demo.shop import Shop
from odradek.kafka.client.offsets import LATEST, list_offsets
from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics
from tests.spark.test_sink_crashes import members
from tests.waiting import wait_until

PATIENCE_S = 600


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


def offsets_of(address: str, topic: str) -> int:
    """How many records a topic has."""
    with topics_of(address) as topics:
        partitions = topics.cluster.partitions_of([topic])
        found = list_offsets(topics.cluster, dict.fromkeys(partitions, LATEST))
        return sum(offset or 0 for offset in found.values())


def test_a_demo_that_is_kept_goes_on_until_it_is_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "odradek.cli", "demo", "--keep", "--seconds", "3"]
    said = tmp_path / "said"
    with said.open("wb") as out:
        demo = subprocess.Popen(
            [*command, "--directory", str(tmp_path / "demo")],
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        wait_until(lambda: demo.poll() is not None or "Ctrl-C" in said.read_text(), PATIENCE_S)
        text = said.read_text()
        assert demo.poll() is None and "inputs and outputs add up" in text, text
        listens = re.search(r"listens on (\S+)", text)
        assert listens is not None
        before = offsets_of(listens[1], "orders")
        wait_until(lambda: offsets_of(listens[1], "orders") > before, PATIENCE_S)
        demo.send_signal(signal.SIGINT)
        assert demo.wait(PATIENCE_S) == 0, said.read_text()
        wait_until(lambda: not members(demo.pid), PATIENCE_S)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(demo.pid, signal.SIGKILL)
        demo.wait()
