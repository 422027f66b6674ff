"""Our clients find Apache's brokers by Apache's ZooKeeper, and are told of them by its watches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import OffsetRange
from odradek.kafka.client.recording import Recorder
from odradek.kafka.client.records_in import read_ranges
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.topic_admin import create_topic
from tests.cli import commands
from tests.cli.commands import Teller
from tests.interop.apache import ApacheZooKeeper
from tests.interop.apache_kafka import apache_broker
from tests.waiting import wait_until

TIMER_MS = "120000"


@dataclass(frozen=True, slots=True)
class Theirs:
    """Apache's ZooKeeper, below whose chroot Apache's brokers are, and a broker's settings."""

    zookeeper: str
    directory: Path

    def settings(self, number: int) -> dict[str, object]:
        return {
            "broker.id": number,
            "zookeeper.connect": self.zookeeper,
            "zookeeper.session.timeout.ms": 4000,
            "offsets.topic.replication.factor": 1,
        }


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theirs]:
    directory = tmp_path_factory.mktemp("apache")
    (directory / "zookeeper").mkdir()
    with ApacheZooKeeper(directory / "zookeeper") as zookeeper:
        found = Theirs(f"{zookeeper.connect_string}/kafka-main", directory)
        with apache_broker(directory / "one", **found.settings(1)):
            yield found


def test_commands_find_brokers_by_zookeeper(theirs: Theirs) -> None:
    commands.tell_of_brokers_by_zookeeper(Teller(f"zk://{theirs.zookeeper}", theirs.zookeeper))


def test_a_client_is_told_of_a_broker_that_comes_and_of_one_that_dies(theirs: Theirs) -> None:
    slow = dict.fromkeys(("metadata.max.age.ms", "request.timeout.ms"), TIMER_MS)
    where = {"bootstrap.servers": f"zk://{theirs.zookeeper}", "delivery.timeout.ms": TIMER_MS}
    brokers = Brokers(client_settings(where | slow))
    cluster = Cluster(brokers)
    try:
        assert len(cluster.addresses()) == 1
        with apache_broker(theirs.directory / "two", **theirs.settings(2)) as second:
            wait_until(lambda: len(cluster.addresses()) == 2)
            create_topic(cluster, "both", partitions=1, replicas=2, configs={})
            with Recorder("both", where | slow) as recorder:
                recorder.send(b"k", b"1")
                recorder.flush()
                second.kill()
                wait_until(lambda: len(cluster.addresses()) == 1)
                recorder.send(b"k", b"2")
        wanted = OffsetRange(TopicPartition("both", 0), 0, 2)
        assert [it.value for _, it in read_ranges(cluster, [wanted])] == [b"1", b"2"]
    finally:
        brokers.close()
