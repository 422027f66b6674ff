"""A topic is copied in small transactions while the brokers are killed, one after the other.

There is exactly one committed copy in the end. `FULL=1` copies 100,000 records.
"""

from __future__ import annotations

import os
from itertools import cycle
from pathlib import Path

from confluent_kafka import Producer

from tests.kafka.clients.clusters import Cluster, running_cluster
from tests.kafka.clients.loads import Copier
from tests.kafka.clients.replica_files import until_equal
from tests.kafka.server.running import RunningBroker
from tests.zookeeper.server.running import running_server

PARTITIONS = 4
IS_FULL = bool(os.environ.get("FULL"))
COUNT = 100_000 if IS_FULL else 4_000
SIZE = 100
BETWEEN_DEATHS = 80 if IS_FULL else 6  # So many transactions.


def fill(cluster: Cluster, topic: str) -> dict[int, int]:
    """Numbers to all partitions; how many each has."""
    producer = Producer({"bootstrap.servers": cluster.address, "enable.idempotence": True})
    for number in range(COUNT):
        producer.produce(topic, b"%d" % number, partition=number % PARTITIONS)
        if number % 1000 == 0:
            producer.poll(0)
    assert producer.flush(60) == 0
    return dict.fromkeys(range(PARTITIONS), COUNT // PARTITIONS)


def test_there_is_one_committed_copy_though_brokers_die(tmp_path: Path) -> None:
    with (
        running_server(tmp_path / "zookeeper", tickTime=500) as zookeeper,
        running_cluster(tmp_path, f"{zookeeper.address}/kafka", [RunningBroker] * 3) as cluster,
    ):
        for topic in ("source", "target"):
            cluster.create(topic, PARTITIONS)
        ends = fill(cluster, "source")
        copier = Copier(cluster.address, "source", "target", PARTITIONS, SIZE)
        copier.start()
        try:
            for id_ in cycle(cluster.ids):
                # Before we wait: while a broker comes back, all may be copied.
                if sum(ends.values()) - sum(copier.copied.values()) < 2 * BETWEEN_DEATHS * SIZE:
                    break
                copier.until_more(BETWEEN_DEATHS)
                cluster.end(id_)
                cluster.start(id_)
            copier.until_copied(ends)
        finally:
            copier.stop()
        copier.check()
        until_equal(cluster)
