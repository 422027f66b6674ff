"""Apache Kafka 3.9.2 on three servers of ours, under a chroot, while their leaders are killed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kazoo.client import KazooClient

from tests.interop.apache_kafka import POM, ApacheBroker
from tests.interop.maven import class_path
from tests.kafka.clients.clusters import PATIENCE_S, Cluster, running_cluster
from tests.kafka.clients.loads import Copier, Load
from tests.waiting import wait_until
from tests.zookeeper.server.running_ensemble import (
    RunningEnsemble,
    RunningMember,
    running_ensemble,
)

CHROOT = "/clusters/one"
PARTITIONS = 3
TWO_BROKERS: dict[str, object] = {
    "zookeeper.session.timeout.ms": 15_000,
    "offsets.topic.replication.factor": 2,
    "transaction.state.log.replication.factor": 2,
    "transaction.state.log.min.isr": 1,
}


def registrations(cluster: Cluster) -> dict[int, int]:
    """By which transaction each broker came: another one would mean another session."""
    zookeeper: Any = cluster.zookeeper
    return {id_: zookeeper.exists(f"/brokers/ids/{id_}").czxid for id_ in cluster.ids}


def create(cluster: Cluster, topic: str) -> None:
    cluster.create(topic, PARTITIONS, 2, min_insync_replicas="1")
    cluster.until_whole()


def kill_leader(ensemble: RunningEnsemble, cluster: Cluster, loads: list[Load | Copier]) -> None:
    """Records flow while there is no leader, and once there is one, so do changes."""
    leader = ensemble.until_led()
    leader.kill()
    ensemble.until_led()
    for load in loads:
        load.until_more()
    create(cluster, f"without-{leader.port}")
    leader.spawn()
    wait_until(ensemble.all_serve, PATIENCE_S)


def tree_of(server: RunningMember) -> dict[str, object]:
    """All that one server has: data, versions, zxids, owners."""
    client = KazooClient(server.address, timeout=10)
    client.start(PATIENCE_S)
    found: dict[str, object] = {}
    try:
        client.sync("/")
        waiting = ["/"]
        while waiting:
            path = waiting.pop()
            found[path] = client.get(path)
            names = client.get_children(path)
            waiting += [f"{path.rstrip('/')}/{name}" for name in names if name != "zookeeper"]
    finally:
        client.stop()
        client.close()
    return found


def test_kafka_goes_on_while_the_leaders_of_its_ensemble_are_killed(tmp_path: Path) -> None:
    class_path(POM)  # Nothing is started where Apache's cannot be had.
    with (
        running_ensemble(tmp_path, *[RunningMember] * 3) as ensemble,
        running_cluster(
            tmp_path, f"{ensemble.connect_string}{CHROOT}", [ApacheBroker] * 2, **TWO_BROKERS
        ) as cluster,
    ):
        for topic in ("source", "copy"):
            create(cluster, topic)
        before = registrations(cluster)
        load = Load(cluster.address, "source", PARTITIONS)
        copier = Copier(cluster.address, "source", "copy", PARTITIONS, size=50)
        load.start()
        copier.start()
        try:
            for _ in range(2):
                kill_leader(ensemble, cluster, [load, copier])
            assert registrations(cluster) == before, "a broker's session did not survive"
            # A broker that dies is missed by the others only through the ensemble.
            controller = cluster.until_controlled()
            cluster.end(controller)
            cluster.start(controller)
        finally:
            load.stop()
        copier.until_copied(dict.fromkeys(range(PARTITIONS), load.sent), PATIENCE_S)
        copier.stop()
        load.check()
        copier.check()
        for broker in cluster.brokers.values():
            broker.stop()
        trees = [tree_of(server) for server in ensemble.servers.values()]
        assert all(tree == trees[0] for tree in trees)
        assert {path.split("/")[1] for path in trees[0]} == {"", "clusters"}
        assert f"{CHROOT}/brokers/topics/source/partitions/0/state" in trees[0]
        assert not any("differs" in it.log for it in ensemble.servers.values())
