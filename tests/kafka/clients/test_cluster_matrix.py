"""Whoever dies, hangs or leaves, as whatever: each kind of producer is told no lie.

Three brokers and a ZooKeeper of ours. `FULL=1` asks for all roles and all blows; without it one of
each is chosen. Each time a producer with acks=all, an idempotent one, and a copier with
transactions are at work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import product

import pytest

from tests.kafka.clients.clusters import (
    PATIENCE_S,
    TRANSACTIONS,
    Cluster,
    pause,
    resume,
    running_cluster,
)
from tests.kafka.clients.works import Go, at_work
from tests.kafka.server.running import RunningBroker
from tests.processes import ServerProcess
from tests.waiting import wait_until
from tests.zookeeper.server.running import running_server

PARTITIONS = 2


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    directory = tmp_path_factory.mktemp("cluster")
    with (
        running_server(directory / "zookeeper", tickTime=500) as zookeeper,
        running_cluster(directory, f"{zookeeper.address}/kafka", [RunningBroker] * 3) as running,
    ):
        yield running


# Who it is that suffers


def leader(cluster: Cluster, topic: str) -> int:
    return cluster.leader(topic)


def controller(cluster: Cluster, topic: str) -> int:
    return cluster.until_controlled()


def coordinator(cluster: Cluster, topic: str) -> int:
    return cluster.leader(TRANSACTIONS)


def follower(cluster: Cluster, topic: str) -> int:
    return next(it for it in cluster.ids if it != cluster.leader(topic))


# What it suffers


def killed(cluster: Cluster, id_: int, go: Go) -> None:
    cluster.end(id_)
    go()
    cluster.start(id_)


def hanging(cluster: Cluster, id_: int, go: Go) -> None:
    """It hangs until the others have given it up, and then goes on as if nothing had been."""
    cluster.down.add(id_)
    pause(cluster[id_])
    try:
        wait_until(lambda: id_ not in cluster.registered, PATIENCE_S)
        cluster.until_whole()
        go()
    finally:
        resume(cluster[id_])
        cluster.down.discard(id_)
    cluster.until_whole()


def stopped(cluster: Cluster, id_: int, go: Go) -> None:
    cluster.end(id_, ServerProcess.stop)
    go()
    cluster.start(id_)


ALL = list(product((leader, controller, coordinator, follower), (killed, hanging, stopped)))
CHOSEN = [(leader, killed), (controller, hanging)]
CASES = ALL if os.environ.get("FULL") else CHOSEN


@pytest.mark.parametrize(
    ("role", "blow"), CASES, ids=[f"{role.__name__} {blow.__name__}" for role, blow in CASES]
)
def test_what_was_acknowledged_is_there_once_in_order(
    cluster: Cluster, role: Callable[[Cluster, str], int], blow: Callable[[Cluster, int, Go], None]
) -> None:
    with at_work(cluster, f"{role.__name__}-{blow.__name__}", PARTITIONS) as works:
        blow(cluster, role(cluster, works.topic), works.go)
