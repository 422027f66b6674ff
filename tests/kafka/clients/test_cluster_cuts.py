"""Brokers that live and are not heard: by ZooKeeper, by each other, by anybody.

Who is cut off from ZooKeeper leads on as far as it knows, and clients reach it: it must not
acknowledge what those who elected another will never have. It takes long: `make cluster` asks.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import NamedTuple

import pytest

from tests.kafka.clients.clusters import PATIENCE_S, Cluster, running_cluster
from tests.kafka.clients.namespaces import DistantBroker, Network, a_network
from tests.kafka.clients.works import at_work
from tests.waiting import wait_until
from tests.zookeeper.server.running import running_server

PARTITIONS = 3  # Each broker leads one.
pytestmark = pytest.mark.skipif(not os.environ.get("FULL"), reason="takes long: make cluster")
OURSELVES = 254


class Distant(NamedTuple):
    """A cluster, and what can be done to its network."""

    network: Network
    cluster: Cluster


@pytest.fixture(scope="module")
def distant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Distant]:
    directory = tmp_path_factory.mktemp("cluster")
    with (
        a_network() as network,
        running_server(
            directory / "zookeeper", tickTime=500, clientPortAddress="0.0.0.0"
        ) as zookeeper,
        running_cluster(
            directory,
            f"{network.own_address}:{zookeeper.port}/kafka",
            [partial(DistantBroker, network)] * 3,
        ) as cluster,
    ):
        yield Distant(network, cluster)


Cut = Callable[[Network, int], AbstractContextManager[None]]


def from_zookeeper(network: Network, id_: int) -> AbstractContextManager[None]:
    """And from clients, as far as its answers go: what they send still arrives."""
    return network.cut(id_, OURSELVES)


def from_everybody(network: Network, id_: int) -> AbstractContextManager[None]:
    return network.isolated(id_)


def from_brokers(network: Network, id_: int) -> AbstractContextManager[None]:
    return network.cut(id_, *({1, 2, 3} - {id_}))


def leader(cluster: Cluster, topic: str) -> int:
    return cluster.leader(topic)


def controller(cluster: Cluster, topic: str) -> int:
    return cluster.until_controlled()


ALL = [
    (leader, from_zookeeper),
    (leader, from_everybody),
    (leader, from_brokers),
    (controller, from_zookeeper),
    (controller, from_everybody),
    (controller, from_brokers),
]


@pytest.mark.parametrize(
    ("role", "cut"), ALL, ids=[f"{role.__name__} {cut.__name__}" for role, cut in ALL]
)
def test_what_was_acknowledged_survives_a_cut(
    distant: Distant, role: Callable[[Cluster, str], int], cut: Cut
) -> None:
    network, cluster = distant
    with at_work(cluster, f"{role.__name__}-{cut.__name__}", PARTITIONS) as works:
        victim = role(cluster, works.topic)
        with cut(network, victim):
            until_noticed(cluster, victim, works.topic, is_from_brokers=cut is from_brokers)
        cluster.until_whole()


def until_noticed(cluster: Cluster, victim: int, topic: str, *, is_from_brokers: bool) -> None:
    """Until ZooKeeper has given it up, or somebody is out of sync."""
    if is_from_brokers:
        # Only who can reach the controller can have the ISR of what it leads changed.
        is_controller = victim == cluster.controller
        leaders = {it: cluster.leader(topic, it) for it in range(PARTITIONS)}
        shrinking = [it for it, id_ in leaders.items() if (id_ == victim) is is_controller]
        assert shrinking
        wait_until(
            lambda: all(len(cluster.state(topic, it)["isr"]) < 3 for it in shrinking), PATIENCE_S
        )
    else:
        wait_until(lambda: victim not in cluster.registered, PATIENCE_S)
        cluster.down.add(victim)
        cluster.until_whole()
        cluster.down.discard(victim)
