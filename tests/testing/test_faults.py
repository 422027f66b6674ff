"""Faults on a real cluster: each does what it says to real clients, and can be undone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import monotonic

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from odradek.testing import Cluster, cluster
from odradek.testing.errors import CannotBeDone

WITHIN_S = 60


@pytest.fixture(scope="module")
def shared() -> Iterator[Cluster]:
    with cluster(brokers=3, zookeepers=1) as running:
        yield running


@pytest.fixture
def faulty(shared: Cluster) -> Iterator[Cluster]:
    yield shared
    shared.calm()
    shared.topics.clear()


def produce(faulty: Cluster, topic: str, **settings: object) -> str | None:
    """The name of the error that a record meets, if it meets one."""
    met: list[str | None] = []
    producer = Producer({"bootstrap.servers": faulty.bootstrap, **settings})
    producer.produce(
        topic, b"v", on_delivery=lambda error, _: met.append(error.name() if error else None)
    )
    producer.flush(WITHIN_S)
    return met[0]


def test_a_killed_leader_is_succeeded_and_comes_back(faulty: Cluster) -> None:
    topic = faulty.topics.create(partitions=1)
    leader = faulty.leader_of(topic)
    faulty.kill(leader)
    faulty.wait_until(lambda: faulty.leader_of(topic) != leader)
    assert produce(faulty, topic) is None
    faulty.restart(leader)
    rows = {row.name: row for row in faulty.status()}
    assert rows[leader].role in ("broker", "controller")


def test_a_follower_that_is_cut_off_falls_out_of_sync_until_it_is_healed(faulty: Cluster) -> None:
    topic = faulty.topics.create()
    leader, controller = faulty.leader_of(topic), faulty.controller()
    follower = next(it for it in faulty.brokers if it not in (leader, controller))
    faulty.cut(leader, follower)
    assert produce(faulty, topic, acks=1) is None
    faulty.wait_until(lambda: under_replicated(faulty) > 0, "a replica out of sync")
    faulty.heal()
    faulty.wait_until(lambda: under_replicated(faulty) == 0, "all in sync")


def under_replicated(faulty: Cluster) -> int:
    return sum(row.under_replicated or 0 for row in faulty.status())


def test_a_client_that_is_cut_off_hears_nothing(faulty: Cluster) -> None:
    topic = faulty.topics.create()
    for broker in faulty.brokers:
        faulty.cut("client", broker)
    assert produce(faulty, topic, **{"message.timeout.ms": 1000}) == "_MSG_TIMED_OUT"
    faulty.heal()
    assert produce(faulty, topic) is None


def test_a_paused_broker_stays_connected_and_silent_until_it_is_resumed(faulty: Cluster) -> None:
    topic = faulty.topics.create(replicas=1)
    leader = faulty.leader_of(topic)
    faulty.pause(leader)
    assert produce(faulty, topic, **{"message.timeout.ms": 1000}) == "_MSG_TIMED_OUT"
    faulty.resume(leader)
    assert produce(faulty, topic) is None


def test_a_broker_whose_session_expires_registers_anew(faulty: Cluster) -> None:
    before = faulty.log_of("broker-2").count("is registered with epoch")
    faulty.expire_session("broker-2")
    faulty.wait_until(
        lambda: faulty.log_of("broker-2").count("is registered with epoch") > before,
        "a new registration",
    )


def test_a_full_disk_takes_no_record_and_a_free_one_does(faulty: Cluster) -> None:
    topic = faulty.topics.create(replicas=1)
    leader = faulty.leader_of(topic)
    assert produce(faulty, topic) is None  # Others may know of the leader before it has a log.
    faulty.fill_disk(leader)
    assert produce(faulty, topic, **{"message.timeout.ms": 2000}) is not None
    faulty.calm()  # It may have given up meanwhile, as a broker without any disk does.
    assert produce(faulty, topic) is None


def test_requests_are_refused_as_often_as_told(faulty: Cluster) -> None:
    topic = faulty.topics.create()
    with faulty.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2) as fault:
        assert produce(faulty, topic) is None  # The client tries again.
        assert fault.hits == 2
    with faulty.fail("Produce", "TOPIC_AUTHORIZATION_FAILED"):
        assert produce(faulty, topic) == "TOPIC_AUTHORIZATION_FAILED"
    assert produce(faulty, topic) is None


def test_a_refusal_of_metadata_still_names_the_brokers(faulty: Cluster) -> None:
    topic = faulty.topics.create()
    with faulty.fail("Metadata", "LEADER_NOT_AVAILABLE", times=2):
        admin = AdminClient({"bootstrap.servers": faulty.bootstrap})
        assert len(admin.list_topics(topic, timeout=WITHIN_S).brokers) == 3


def test_requests_are_held_up(faulty: Cluster) -> None:
    topic = faulty.topics.create()
    began = monotonic()
    with faulty.delay("Produce", 0.7) as fault:
        assert produce(faulty, topic) is None
        assert (fault.hits, monotonic() - began >= 0.7) == (1, True)


def test_what_cannot_be_done_gets_a_sentence(faulty: Cluster) -> None:
    with pytest.raises(CannotBeDone, match=r"there is no broker-9; there are zookeeper-1, broker"):
        faulty.kill(9)
    with pytest.raises(CannotBeDone, match="there is no session"):
        faulty.expire_session(session_id=4711)
    with pytest.raises(CannotBeDone, match="does not run"):
        Cluster(faults=False).kill(1)


def test_a_cluster_starts_beside_a_loop_that_runs_already_as_in_a_notebook() -> None:
    async def cell() -> str | None:
        with cluster(faults=False) as small:
            return produce(small, small.topics.create())

    assert asyncio.run(cell()) is None
