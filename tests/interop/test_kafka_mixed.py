"""Apache's brokers and ours in one cluster: either kind leads, follows, controls, coordinates.

All brokers are killed in turn, under a controller of either kind, while producers write, and while
a copier moves records in transactions. In the end every acknowledged record is there once, in
order, and the files of all replicas are equal, byte by byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.interop.kafka_mixed import coordinate_by, elect_preferred, mixed_cluster, until_told
from tests.kafka.clients.clusters import (
    ASK_S,
    PATIENCE_S,
    Cluster,
    pause,
    resume,
)
from tests.kafka.clients.loads import Copier, Load, read_partition
from tests.kafka.clients.replica_files import read_logs, until_equal
from tests.waiting import wait_until

PARTITIONS = 4
# A follower falls behind long before its session ends.
PATIENT: dict[str, object] = {
    "zookeeper.session.timeout.ms": 10_000,
    "replica.lag.time.max.ms": 2000,
}


def is_kind(mix: str, kind: str) -> Callable[[int], bool]:
    return lambda id_: mix[id_ - 1] == kind


def directories(cluster: Cluster, topic: str) -> list[str]:
    """Where a topic still has live directories."""
    names = (
        it for broker in cluster.brokers.values() for it in (broker.directory / "data").iterdir()
    )
    return [str(it) for it in names if re.fullmatch(rf"{topic}-\d+", it.name)]


def topics_come_and_go(cluster: Cluster, name: str) -> None:
    """Make a topic, give it more partitions, write to all, and delete it."""
    cluster.create(name, 2)
    cluster.add_partitions(name, 5)
    wait_until(lambda: len(cluster.replicas(name)) == 5 and cluster.is_whole(), PATIENCE_S)
    until_told(cluster, name, 5)
    load = Load(cluster.address, name, 5)
    load.start()
    load.until_more(20)
    load.stop()
    load.check()
    assert len(directories(cluster, name)) == 15
    cluster.delete(name)
    wait_until(lambda: name not in cluster.topics(), PATIENCE_S)
    wait_until(lambda: not directories(cluster, name), PATIENCE_S)


@pytest.mark.parametrize("zookeeper", ["ours", "apache"])
@pytest.mark.parametrize("mix", ["AAO", "AOO"])
def test_whoever_is_killed_under_whichever_controller_nothing_is_lost_or_doubled(
    tmp_path: Path, mix: str, zookeeper: str
) -> None:
    with mixed_cluster(tmp_path, mix, zookeeper) as cluster:
        cluster.create("numbers", PARTITIONS)
        cluster.create("source", 2)
        cluster.create("target", 2)
        load = Load(cluster.address, "numbers", PARTITIONS)
        source = Load(cluster.address, "source", 2, burst=1)
        copier = Copier(cluster.address, "source", "target", 2, size=500)
        for work in (load, source, copier):
            work.start()
        try:
            for side in "AO":
                cluster.elect_controller(is_kind(mix, side))
                topics_come_and_go(cluster, f"passing-{side}")
                for id_ in cluster.ids:
                    cluster.elect_controller(is_kind(mix, side))
                    cluster.end(id_)
                    load.until_more()
                    copier.until_more(3)
                    cluster.start(id_)
                    load.until_more()
                elect_preferred(cluster)
                for id_ in cluster.ids:
                    coordinate_by(cluster, id_)
                    copier.until_more(3)
        finally:
            load.stop()
            source.stop()
            try:
                copier.until_copied(dict.fromkeys(range(2), source.sent))
            finally:
                copier.stop()
        for work in (load, source, copier):
            work.check()
        until_equal(cluster)


def send(cluster: Cluster, acks: str, *values: bytes) -> None:
    """Records to the only partition of "t", each in a batch of its own."""
    producer = Producer({"bootstrap.servers": cluster.address, "acks": acks, "linger.ms": 0})
    for value in values:
        producer.produce("t", value, partition=0)
        assert producer.flush(ASK_S) == 0


def create_led_by(cluster: Cluster, leader: int) -> list[int]:
    """Make "t" anew, with a given leader; who follows."""
    if "t" in cluster.topics():
        cluster.delete("t")
        # Brokers forget it first; the name is free when the controller has done its last write.
        wait_until(lambda: not cluster.zookeeper.exists("/admin/delete_topics/t"), PATIENCE_S)
        wait_until(lambda: "t" not in cluster.topics(), PATIENCE_S)
    followers = [it for it in cluster.ids if it != leader]
    cluster.create_at("t", [leader, *followers])
    wait_until(lambda: cluster.leader("t") == leader)
    return followers


def hang(cluster: Cluster, follower: int) -> None:
    """Have a follower hang until it is out of sync, and see it come back."""
    send(cluster, "all", b"before")
    pause(cluster[follower])
    try:
        send(cluster, "1", b"meanwhile")
        wait_until(lambda: follower not in cluster.state("t")["isr"], PATIENCE_S)
    finally:
        resume(cluster[follower])
    cluster.until_whole()


@pytest.mark.parametrize("mix", ["AAO", "AOO"])
def test_a_follower_that_hangs_leaves_the_isr_and_comes_back(tmp_path: Path, mix: str) -> None:
    with mixed_cluster(tmp_path, mix, **PATIENT) as cluster:
        for leader in (mix.index("A") + 1, mix.index("O") + 1):
            followers = create_led_by(cluster, leader)
            for side in "AO":
                controller = cluster.elect_controller(is_kind(mix, side))
                hang(cluster, next(it for it in followers if it != controller))
            until_equal(cluster, ["t"])
            assert read_partition(cluster.address, "t", 0) == [b"before", b"meanwhile"] * 2


@pytest.mark.parametrize("mix", ["AAO", "AOO"])
def test_what_only_a_dead_leader_had_is_cut_off_when_it_follows(tmp_path: Path, mix: str) -> None:
    settings = {**PATIENT, "replica.lag.time.max.ms": 30_000}
    with mixed_cluster(tmp_path, mix, **settings) as cluster:
        for leader in (mix.index("A") + 1, mix.index("O") + 1):
            followers = create_led_by(cluster, leader)
            cluster.until_whole()
            send(cluster, "all", b"one", b"two")
            for id_ in followers:
                pause(cluster[id_])
            # The fetches under way may bring the first of these; then nobody asks any more.
            send(cluster, "1", *(b"lost %d" % number for number in range(10)))
            cluster.down.add(leader)
            cluster[leader].kill()
            for id_ in followers:
                resume(cluster[id_])
            cluster.until_whole()
            send(cluster, "all", b"three")
            alone = len(batches(cluster, leader))
            cluster.start(leader)
            until_equal(cluster, ["t"])
            assert len(batches(cluster, leader)) < alone
            values = read_partition(cluster.address, "t", 0)
            assert values[:2] + values[-1:] == [b"one", b"two", b"three"]
            assert len(values) < alone


def batches(cluster: Cluster, id_: int) -> list[bytes]:
    logs = read_logs(cluster[id_].directory / "data", ["t"])
    return next(iter(logs.values()))
