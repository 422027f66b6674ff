"""What the stories of Java's clients share: a pair of servers, and our programs compiled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.apache_kafka import POM
from tests.interop.java_clients import compile_programs
from tests.interop.kafka_pair import Brokers, both_brokers
from tests.interop.pair import Pair, both_servers


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """New servers for each module: they hear the same, so even their zxids must agree."""
    with both_servers(tmp_path_factory.mktemp("servers")) as pair:
        yield pair


@pytest.fixture(scope="session")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where our Java programs are, compiled."""
    directory = tmp_path_factory.mktemp("classes")
    compile_programs(directory)
    return directory


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    """New brokers for each module: they hear the same, so they must say the same."""
    with both_brokers(tmp_path_factory.mktemp("brokers")) as pair:
        yield pair


@pytest.fixture(scope="session")
def kafka_classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our programs for Kafka, compiled for the older clients: the newer run them as they are."""
    directory = tmp_path_factory.mktemp("kafka-classes")
    compile_programs(directory, ["kafka"], POM)
    return directory
