"""Tests of the Spark side need the extra `spark`; without it they are not collected.

One session and one broker serve all of them: a session takes seconds to start.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from odradek.kafka.client.brokers import close_shared_brokers
from tests.kafka.client.brokers import broker_address, topics_of
from tests.kafka.client.topics import Topics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NEEDED = ("pyspark", "pyarrow", "wasmtime")


def not_collected() -> list[str]:
    """What is not to be collected here."""
    if not all(map(find_spec, NEEDED)):
        return ["*"]
    from tests.spark.versions import PUSHES_FILTERS

    return [] if PUSHES_FILTERS else ["test_filters.py"]


collect_ignore_glob = not_collected()
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
}


@pytest.fixture(autouse=True)
def _connections() -> Iterator[None]:
    """A test leaves no connection to its own cluster behind."""
    yield
    close_shared_brokers()


@pytest.fixture(scope="session")
def topics(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    directory = tmp_path_factory.mktemp("broker")
    with broker_address(directory) as address, topics_of(address) as made:
        yield made


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer")
    from pyspark.sql import SparkSession

    from odradek.spark.python import prepare_python

    prepare_python(tmp_path_factory.mktemp("python"))
    builder = SparkSession.builder.master("local[2]")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
