"""The pytest plugin: `odradek`, `odradek_cluster`, `odradek_topic`, `odradek_topics`.

    @pytest.mark.odradek(brokers=3, zookeepers=3)
    def test_failover(odradek, odradek_topic): ...

Clusters live as long as the session and are shared by all tests that want the same; after each
test what it did to the cluster is undone. `fresh=True` gives a test one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from odradek.testing.faulty import Cluster

MARKER = (
    "odradek(brokers=1, zookeepers=1, settings={}, fresh=False): "
    "the cluster that a test wants from the `odradek` fixture"
)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)


class Pool:
    """Clusters that run, by what was asked for."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._clusters: dict[str, Cluster] = {}

    def get(self, wanted: dict[str, Any]) -> Cluster:
        key = repr(sorted(wanted.items()))
        if key not in self._clusters:
            self._clusters[key] = self._stack.enter_context(new_cluster(wanted))
        return self._clusters[key]

    def close(self) -> None:
        self._stack.close()


def new_cluster(wanted: dict[str, Any]) -> Cluster:
    from odradek.testing.faulty import Cluster

    return Cluster(**wanted)


@pytest.fixture(scope="session")
def odradek_pool() -> Iterator[Pool]:
    """All clusters of this run."""
    pool = Pool()
    yield pool
    pool.close()


@pytest.fixture(scope="session")
def odradek_cluster(odradek_pool: Pool) -> Cluster:
    """One broker and one ZooKeeper for the whole run, for fixtures of a wider scope."""
    return odradek_pool.get({})


@pytest.fixture
def odradek(request: pytest.FixtureRequest, odradek_pool: Pool) -> Iterator[Cluster]:
    """The cluster that the test's marker asks for; calm again, and without its topics, after it."""
    marker = request.node.get_closest_marker("odradek")
    wanted = dict(marker.kwargs) if marker is not None else {}
    if wanted.pop("fresh", False):
        with new_cluster(wanted) as cluster:
            yield cluster
        return
    cluster = odradek_pool.get(wanted)
    yield cluster
    cluster.calm()
    cluster.topics.clear()


@pytest.fixture
def odradek_topics(odradek: Cluster) -> Callable[..., str]:
    """Makes topics: `odradek_topics(partitions=3, config={...})` gives the name."""
    return odradek.topics.create


@pytest.fixture
def odradek_topic(odradek: Cluster) -> str:
    """A topic with one partition."""
    return odradek.topics.create()
