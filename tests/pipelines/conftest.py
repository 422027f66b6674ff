"""One session for all tests of Spark, and two brokers: most pipelines lead from one to another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kafka.client.brokers import topics_of
from tests.kafka.client.topics import Topics
from tests.kafka.server.running import running_broker
from tests.spark.conftest import _connections, collect_ignore_glob, spark, topics

__all__ = ["_connections", "collect_ignore_glob", "elsewhere", "spark", "topics"]


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Topics]:
    """Topics of another cluster."""
    directory = tmp_path_factory.mktemp("elsewhere")
    with running_broker(directory) as broker, topics_of(broker.address) as made:
        yield made
