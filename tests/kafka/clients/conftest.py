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
