"""Clients that ZooKeeper tells of brokers and leaders, on a real cluster below a chroot.

The timers that could help them otherwise, the age of metadata and the patience with a silent
broker, are set to a minute.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic

import pytest

from odradek.kafka.client.addresses import Address
from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TimedOut, TopicPartition
from odradek.kafka.client.fetcher import OffsetRange
from odradek.kafka.client.recording import Recorder
from odradek.kafka.client.records_in import read_ranges
from odradek.kafka.client.settings import ClientSettings, client_settings
from odradek.testing import Cluster as Servers

CHROOT = "/kafka-main"
TIMER_S = 60
SLOW = {
    "metadata.max.age.ms": str(TIMER_S * 1000),
    "request.timeout.ms": str(TIMER_S * 1000),
    "retry.backoff.ms": "3000",
    "retry.backoff.max.ms": "3000",
}


@pytest.fixture(scope="module")
def shared() -> Iterator[Servers]:
    with Servers(brokers=3, zookeepers=1, chroot=CHROOT, faults=False) as running:
        yield running


@pytest.fixture
def servers(shared: Servers) -> Iterator[Servers]:
    yield shared
    shared.calm()
    # Also the controller: one that was paused knows itself before others know it again.
    shared.wait_until(lambda: all(map(knows_all, shared.bootstrap.split(","))))


def knows_all(address: str) -> bool:
    brokers = Brokers(client_settings({"bootstrap.servers": address}))
    try:
        return len(Cluster(brokers).addresses()) == 3
    finally:
        brokers.close()


def properties(servers: Servers) -> dict[str, str]:
    return {"bootstrap.servers": f"zk://{servers.zookeeper}", **SLOW}


@contextmanager
def told(servers: Servers, **more: int) -> Iterator[Cluster]:
    settings = client_settings(properties(servers) | {k: str(v) for k, v in more.items()})
    brokers = Brokers(settings)
    try:
        yield Cluster(brokers)
    finally:
        brokers.close()


def values(cluster: Cluster, topic: str, count: int) -> list[bytes | None]:
    """The first so many records, waited for if need be."""
    wanted = OffsetRange(TopicPartition(topic, 0), 0, count)
    return [record.value for _, record in read_ranges(cluster, [wanted])]


def watches() -> list[str]:
    return [it.name for it in threading.enumerate() if it.name == "zookeeper watch"]


def test_records_go_in_and_out_through_a_chroot_and_nothing_is_left_behind(
    servers: Servers,
) -> None:
    topic = servers.topics.create()
    with Recorder(topic, properties(servers)) as recorder:
        recorder.send(b"k", b"v")
        assert watches()
    with told(servers) as cluster:
        assert values(cluster, topic, 1) == [b"v"]
    assert not watches()


def test_a_task_looks_for_brokers_and_keeps_no_session(servers: Servers) -> None:
    topic = servers.topics.create()
    settings: ClientSettings = client_settings(properties(servers)).for_task()
    brokers = Brokers(settings)
    cluster = Cluster(brokers)
    assert cluster.partition_count(topic) == 1
    assert not watches()
    brokers.close()


def test_a_new_broker_is_known_at_once(servers: Servers) -> None:
    servers.shut_down(3)
    with told(servers) as cluster:
        cluster.topics()
        servers.wait_until(lambda: len(cluster.addresses()) == 2)
        servers.restart(3)
        servers.wait_until(lambda: len(cluster.addresses()) == 3, within_s=TIMER_S / 2)
        assert all(isinstance(it, Address) for it in cluster.addresses())


@pytest.mark.parametrize("fault", ["kill", "pause"])
def test_clients_go_over_to_the_next_leader_as_soon_as_there_is_one(
    servers: Servers, fault: str
) -> None:
    topic = servers.topics.create()
    leader = servers.leader_of(topic)
    with (
        ThreadPoolExecutor(1) as other,
        told(servers, **{"fetch.max.wait.ms": 1000 * TIMER_S}) as cluster,
        Recorder(topic, properties(servers)) as recorder,
    ):
        recorder.send(b"k", b"1")
        recorder.flush()
        assert values(cluster, topic, 1) == [b"1"]
        reading = other.submit(values, cluster, topic, 2)
        began = monotonic()
        getattr(servers, fault)(leader)
        recorder.send(b"k", b"2")
        recorder.flush()
        assert reading.result(TIMER_S) == [b"1", b"2"]
        assert monotonic() - began < TIMER_S / 2
        led = cluster.leader_of(TopicPartition(topic, 0))
        assert led is not None and f"broker-{led[1].node_id}" != leader


def test_a_client_that_knows_brokers_goes_on_while_zookeeper_is_away(servers: Servers) -> None:
    topic = servers.topics.create()
    with told(servers) as cluster, Recorder(topic, properties(servers)) as recorder:
        recorder.send(b"k", b"1")
        recorder.flush()
        assert values(cluster, topic, 1) == [b"1"]
        guide = cluster.brokers.guide
        assert guide is not None
        servers.kill("zookeeper-1")
        servers.wait_until(lambda: bool(guide.news.trouble), "the end of news")
        recorder.send(b"k", b"2")
        recorder.flush()
        cluster.forget(topic)  # What it has to ask anew, it asks brokers.
        assert values(cluster, topic, 2) == [b"1", b"2"]
        assert len(cluster.addresses()) == 3
        servers.restart("zookeeper-1")
        servers.wait_until(lambda: not guide.news.trouble, "news")


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("{zookeeper}-not", "no broker has ever registered below /kafka-main-not"),
        ("127.0.0.1:1/kafka-main", "zk://127.0.0.1:1/kafka-main: no server has answered yet"),
        ("{zookeeper}?listener=OTHER", "no plain text listener named OTHER among PLAINTEXT"),
    ],
)
def test_where_no_broker_is_found_the_reason_is_told(
    servers: Servers, where: str, words: str
) -> None:
    given = {
        "bootstrap.servers": "zk://" + where.format(zookeeper=servers.zookeeper),
        "default.api.timeout.ms": "300",
        "socket.connection.setup.timeout.ms": "300",
    }
    brokers = Brokers(client_settings(given))
    try:
        with pytest.raises(TimedOut) as raised:
            Cluster(brokers).topics()
    finally:
        brokers.close()
    assert words in str(raised.value)
