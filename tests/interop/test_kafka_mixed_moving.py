"""The way out: topics, brokers and ZooKeeper move from us to Apache's while clients work.

These are the steps, and the commands, of docs/moving-to-apache.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from odradek.kafka.wire.errors import ErrorCode
from tests.interop.apache import server_command
from tests.interop.apache_kafka import POM, ApacheBroker
from tests.interop.kafka_mixed import LIGHT, mixed_cluster, reassign, tool
from tests.interop.maven import class_path
from tests.kafka.clients.clusters import (
    PATIENCE_S,
    Cluster,
    pause,
    resume,
    running_cluster,
)
from tests.kafka.clients.loads import Copier, Load
from tests.kafka.clients.replica_files import until_equal
from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until
from tests.zookeeper.server.running_ensemble import RunningMember, running_ensemble

REPLICAS = 2
PAIRS: dict[str, object] = {
    "offsets.topic.replication.factor": REPLICAS,
    "transaction.state.log.replication.factor": REPLICAS,
    "transaction.state.log.min.isr": 1,
}
PROPOSED = "Proposed partition reassignment configuration\n"


class MemberToLeave(RunningMember):
    """A ZooKeeper server of ours, whose place and files Apache's takes over."""

    def hand_over(self) -> None:
        self.stop()
        self._command = server_command(self.directory / "zoo.cfg")
        self.spawn()


@contextmanager
def at_work(cluster: Cluster) -> Iterator[Load]:
    """Producers, and a copier with its group and its transactions; all is right in the end."""
    for topic in ("numbers", "source", "target"):
        cluster.create(topic, 2, REPLICAS, min_insync_replicas="1")
    load = Load(cluster.address, "numbers", 2)
    source = Load(cluster.address, "source", 2, burst=1)
    copier = Copier(cluster.address, "source", "target", 2, size=500)
    works = (load, source, copier)
    for work in works:
        work.start()
    try:
        copier.until_more(3)
        yield load
        copier.until_more(3)
    finally:
        load.stop()
        source.stop()
        try:
            copier.until_copied(dict.fromkeys(range(2), source.sent))
        finally:
            copier.stop()
    for work in works:
        work.address = cluster.address  # Those whom they knew first may be gone.
        work.check()
    until_equal(cluster)


def move_all(cluster: Cluster, directory: Path, to: str) -> None:
    """Have a plan made, executed, and verified."""
    topics, plan = directory / "topics.json", directory / "plan.json"
    names = [{"topic": topic} for topic in cluster.topics()]
    topics.write_text(json.dumps({"version": 1, "topics": names}))
    wanted = ("--topics-to-move-json-file", str(topics), "--broker-list", to)
    generated = tool(cluster, "kafka-reassign-partitions", *wanted, "--generate")
    plan.write_text(generated.partition(PROPOSED)[2])
    file = ("--reassignment-json-file", str(plan))
    tool(cluster, "kafka-reassign-partitions", *file, "--execute")
    wait_until(
        lambda: (
            "still in progress" not in tool(cluster, "kafka-reassign-partitions", *file, "--verify")
        ),
        PATIENCE_S,
    )


def holders(cluster: Cluster) -> set[int]:
    """Who has any replica."""
    return {id_ for _, _, replicas, _ in cluster.states() for id_ in replicas}


def test_a_whole_cluster_becomes_apaches_while_clients_work(tmp_path: Path) -> None:
    class_path(POM)
    with (
        running_ensemble(tmp_path / "zookeeper", *[MemberToLeave] * 3) as ensemble,
        running_cluster(
            tmp_path,
            f"{ensemble.connect_string}/kafka",
            [RunningBroker] * 2,
            **{**LIGHT, **PAIRS},
        ) as cluster,
        at_work(cluster) as load,
    ):
        theirs = [cluster.join(ApacheBroker) for _ in range(2)]
        move_all(cluster, tmp_path, ",".join(map(str, theirs)))
        assert holders(cluster) == set(theirs)
        load.until_more()
        for id_ in (1, 2):
            cluster.leave(id_)
            load.until_more()
        assert cluster.registered == set(theirs) and cluster.controller in theirs
        leader = ensemble.until_led()
        others = [it for it in ensemble.servers.values() if it is not leader]
        for server in (*others, leader):
            assert isinstance(server, MemberToLeave)
            server.hand_over()
            wait_until(ensemble.all_serve, PATIENCE_S)
            load.until_more()


@pytest.mark.parametrize("side", ["A", "O"])
def test_partitions_move_to_and_fro_between_kinds_under_either_controller(
    tmp_path: Path, side: str
) -> None:
    mix = "OOAA"
    with mixed_cluster(tmp_path, mix, **PAIRS) as cluster, at_work(cluster) as load:
        cluster.elect_controller(lambda id_: mix[id_ - 1] == side)
        for first, second in (([3, 4], [4, 3]), ([1, 2], [2, 1]), ([3, 1], [2, 4])):
            assert reassign(cluster, "numbers", {0: first, 1: second}) == [ErrorCode.NONE] * 2
            wait_until(lambda: is_moved(cluster, {0: first, 1: second}), PATIENCE_S)  # noqa: B023
            load.until_more()


def is_moved(cluster: Cluster, wanted: dict[int, list[int]]) -> bool:
    node = cluster.node("/brokers/topics/numbers")
    assert node is not None
    is_under_way = node["adding_replicas"] or node["removing_replicas"]
    return not is_under_way and cluster.replicas("numbers") == wanted


@pytest.mark.parametrize("mix", ["OOA", "AAO"])
def test_a_move_to_a_broker_that_hangs_is_cancelled(tmp_path: Path, mix: str) -> None:
    settings = {**PAIRS, "zookeeper.session.timeout.ms": 10_000}
    with mixed_cluster(tmp_path, mix, **settings) as cluster:
        cluster.create_at("numbers", [1, 2])
        cluster.until_whole()
        cluster.elect_controller(lambda id_: id_ != 3)
        pause(cluster[3])
        try:
            assert reassign(cluster, "numbers", {0: [3, 1]}) == [ErrorCode.NONE]
            wait_until(lambda: cluster.replicas("numbers") == {0: [3, 1, 2]})
            assert reassign(cluster, "numbers", {0: None}) == [ErrorCode.NONE]
            wait_until(lambda: is_moved(cluster, {0: [1, 2]}), PATIENCE_S)
        finally:
            resume(cluster[3])
        cluster.until_whole()
        wait_until(lambda: not (cluster[3].directory / "data" / "numbers-0").exists(), PATIENCE_S)
