"""`kafka.bootstrap.servers=zk://…`: source, sink and stream find their brokers by ZooKeeper."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from odradek.kafka.client.recording import Recorder
from odradek.spark.options import parse_options
from odradek.spark.stream import StreamReader
from odradek.testing import Cluster


@pytest.fixture(scope="module")
def servers() -> Iterator[Cluster]:
    with Cluster(brokers=1, zookeepers=1, chroot="/kafka-main", faults=False) as running:
        yield running


def watch_count() -> int:
    return sum(it.name == "zookeeper watch" for it in threading.enumerate())


def test_what_is_written_by_zookeeper_is_read_by_zookeeper(
    spark: SparkSession, servers: Cluster
) -> None:
    topic = servers.topics.create(partitions=2)
    where = {"kafka.bootstrap.servers": f"zk://{servers.zookeeper}"}
    frame = spark.range(100).selectExpr("cast(id as string) value")
    frame.write.format("odradek").options(**where, topic=topic).mode("append").save()
    rows = spark.read.format("odradek").options(**where, subscribe=topic).load().collect()
    assert sorted(int(row.value) for row in rows) == list(range(100))


def test_a_stream_finds_its_brokers_by_zookeeper(servers: Cluster) -> None:
    topic = servers.topics.create()
    where = {"bootstrap.servers": f"zk://{servers.zookeeper}"}
    with Recorder(topic, where) as recorder:
        recorder.send(None, b"v")
    given = {f"kafka.{key}": it for key, it in where.items()}
    options = parse_options(
        {**given, "subscribe": topic, "startingOffsets": "earliest"}, is_stream=True
    )
    stream = StreamReader(options, ["value"])
    start = stream.initialOffset()
    (task,) = stream.partitions(start, {topic: {"0": 1}})
    assert watch_count() == 1
    on_an_executor: StreamReader = pickle.loads(pickle.dumps(stream))
    rows = [row for batch in on_an_executor.read(task) for row in batch.to_pylist()]
    assert rows == [{"value": b"v"}]
    assert watch_count() == 1  # The driver's: a task looks for brokers, and keeps no session.


def test_a_wrong_address_is_refused_with_a_sentence(spark: SparkSession) -> None:
    where = {"kafka.bootstrap.servers": "zk://zk1:2181,zk://zk2:2181", "subscribe": "t"}
    with pytest.raises(PySparkException, match="stands once, before the first ZooKeeper"):
        spark.read.format("odradek").options(**where).load().collect()
