"""Apache's kafka-reassign-partitions moves our replicas: between brokers and directories, slowly.

The limits that it sets are kept to, and it finds them lifted in the end; what it is told of the
directories is where things are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from time import monotonic

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.cli.commands import Teller
from tests.interop.apache_kafka import POM, ApacheBroker
from tests.interop.kafka_mixed import LIGHT, a_zookeeper, tool
from tests.interop.maven import class_path
from tests.kafka.clients.clusters import PATIENCE_S, Cluster, Kind, running_cluster
from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until

COUNT = 4000
RATE = 1_000_000


def two_directories(directory: Path, settings: Mapping[str, object]) -> dict[str, object]:
    return {**settings, "log.dirs": f"{directory}/data,{directory}/more"}


class OurBroker(RunningBroker):
    def __init__(self, directory: Path, settings: Mapping[str, object]) -> None:
        super().__init__(directory, two_directories(directory, settings))


class TheirBroker(ApacheBroker):
    def __init__(self, directory: Path, settings: Mapping[str, object], port: int = 0) -> None:
        super().__init__(directory, two_directories(directory, settings), port)


KINDS: dict[str, Kind] = {"A": TheirBroker, "O": OurBroker}


def fill(cluster: Cluster) -> None:
    tool(cluster, "kafka-topics", "--create", "--topic", "t", "--replica-assignment", "1")
    # Who is not idempotent may send its first batch again after the second.
    producer = Producer({"bootstrap.servers": cluster.address, "enable.idempotence": True})
    for number in range(COUNT):
        producer.produce("t", b"%d" % number + b"x" * 1000)
        producer.poll(0)
    assert producer.flush(PATIENCE_S) == 0


def read_all(cluster: Cluster) -> list[int]:
    settings = {"bootstrap.servers": cluster.address, "group.id": "g"}
    consumer = Consumer({**settings, "auto.offset.reset": "earliest"})
    consumer.assign([TopicPartition("t", 0, 0)])
    found: list[int] = []
    deadline = monotonic() + PATIENCE_S
    while len(found) < COUNT and monotonic() < deadline:
        for message in consumer.consume(500, 1.0):
            assert message.error() is None
            found.append(int(message.value().rstrip(b"x")))
    consumer.close()
    return found


def directories_of(cluster: Cluster, broker: int) -> dict[str, bool]:
    """Where a broker has the partition, and whether that is on its way."""
    options = ("--describe", "--topic-list", "t", "--broker-list", str(broker))
    said = json.loads(tool(cluster, "kafka-log-dirs", *options).splitlines()[-1])
    return {
        it["logDir"]: each["isFuture"]
        for it in said["brokers"][0]["logDirs"]
        for each in it["partitions"]
    }


def configs_of(cluster: Cluster, kind: str, name: str) -> str:
    options = ("--entity-type", kind, "--entity-name", name, "--describe")
    return tool(cluster, "kafka-configs", *options)


def plan_of(directory: Path, broker: int, path: str) -> tuple[str, str]:
    row = {"topic": "t", "partition": 0, "replicas": [broker], "log_dirs": [path]}
    file = directory / "plan.json"
    file.write_text(json.dumps({"version": 1, "partitions": [row]}))
    return "--reassignment-json-file", str(file)


def verified(cluster: Cluster, plan: tuple[str, str]) -> bool:
    said = tool(cluster, "kafka-reassign-partitions", *plan, "--verify")
    return "in progress" not in said and "is still" not in said


@pytest.mark.parametrize("mix", ["OO", "AO", "OA"])
def test_replicas_are_moved_as_slowly_as_is_asked_for(tmp_path: Path, mix: str) -> None:
    class_path(POM)
    with (
        a_zookeeper("ours", tmp_path / "zookeeper") as connect_string,
        running_cluster(tmp_path, connect_string, [KINDS[it] for it in mix], **LIGHT) as cluster,
    ):
        fill(cluster)
        more, data = (str(cluster[2].directory / it) for it in ("more", "data"))
        plan = plan_of(tmp_path, 2, more)
        limits = ("--throttle", str(RATE), "--replica-alter-log-dirs-throttle", str(100 * RATE))
        begun_s = monotonic()
        tool(cluster, "kafka-reassign-partitions", *plan, *limits, "--execute")
        assert "leader.replication.throttled.replicas=0:1" in configs_of(cluster, "topics", "t")
        assert f"throttled.rate={RATE}" in configs_of(cluster, "brokers", "2")
        wait_until(lambda: verified(cluster, plan), PATIENCE_S)
        assert monotonic() - begun_s > 0.5 * COUNT * 1000 / RATE
        assert "throttled" not in configs_of(cluster, "topics", "t")
        assert "rate=" not in configs_of(cluster, "brokers", "2")
        assert directories_of(cluster, 2) == {more: False}
        tool(cluster, "kafka-reassign-partitions", *plan_of(tmp_path, 2, data), "--execute")
        wait_until(lambda: directories_of(cluster, 2) == {data: False}, PATIENCE_S)
        teller = Teller(cluster.address, "")
        moved = teller.kafka("topic", "move", "--plan", plan_of(tmp_path, 2, more)[1], "--json")
        assert moved.json["done"]
        assert directories_of(cluster, 2) == {more: False}
        assert read_all(cluster) == list(range(COUNT))
