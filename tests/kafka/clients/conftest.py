"""One broker for all real clients; every test has topics of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tests.kafka.server.running import RunningBroker, running_broker


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with running_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture(scope="session")
def numbers() -> Iterator[int]:
    return count(1)


@pytest.fixture
def name(numbers: Iterator[int]) -> Callable[[], str]:
    """Names of topics and groups that nobody else has."""
    return lambda: f"t{next(numbers)}"


@pytest.fixture(scope="session")
def coordinator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker that loses its patience sooner: with members, and with open transactions."""
    settings: dict[str, object] = {
        "group.min.session.timeout.ms": 100,
        "offsets.topic.num.partitions": 5,
        "transaction.state.log.num.partitions": 5,
        "transaction.max.timeout.ms": 60_000,
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 100,
    }
    with running_broker(tmp_path_factory.mktemp("coordinator"), **settings) as running:
        yield running
