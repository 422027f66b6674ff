"""A coordinator that restarts knows its groups again: members, generations, offsets, metadata."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.kafka.clients.members import (
    QUICK,
    WAIT_S,
    make_topic,
    members,
    send,
    shares,
    until_shared,
)
from tests.kafka.server.running import RunningBroker, running_broker
from tests.waiting import wait_until

SETTINGS: dict[str, object] = {
    "group.min.session.timeout.ms": 100,
    "offsets.topic.num.partitions": 3,
}
Ending = Callable[[RunningBroker], None]


@pytest.mark.parametrize("end", [RunningBroker.stop, RunningBroker.kill])
def test_members_go_on_where_they_were(tmp_path: Path, end: Ending) -> None:
    with running_broker(tmp_path, **SETTINGS) as broker:
        topic = make_topic(broker, "t", 4)
        long = {"session_timeout_ms": 30_000}
        with members(broker, "g", topic, 2, **long) as those:
            until_shared(those, 2, 2)
            moves = [list(each.assigned) for each in those]
            those[0].consumer.commit(
                offsets=[TopicPartition(topic, 3, 12, "twelve")], asynchronous=False
            )
            end(broker)
            broker.start()
            (committed,) = those[0].consumer.committed([TopicPartition(topic, 3)], WAIT_S)
            assert (committed.offset, committed.metadata) == (12, "twelve")
            send(broker, topic, *(b"%d" % number for number in range(20)))
            wait_until(lambda: shares(those, 2, 2) and sum(len(it.values) for it in those) == 20)
            assert [each.assigned for each in those] == moves


@pytest.mark.parametrize("end", [RunningBroker.stop, RunningBroker.kill])
def test_offsets_and_deletions_survive(tmp_path: Path, end: Ending) -> None:
    with running_broker(tmp_path, **SETTINGS) as broker:
        topic = make_topic(broker, "t", 2)
        for group in ("kept", "gone"):
            commit(broker, group, TopicPartition(topic, 0, 5, group))
        admin = AdminClient({"bootstrap.servers": broker.address})
        admin.delete_consumer_groups(["gone"])["gone"].result(WAIT_S)
        end(broker)
        broker.start()
        assert committed(broker, "kept", topic) == (5, "kept")
        assert committed(broker, "gone", topic) == (-1001, None)
        listed = admin.list_consumer_groups().result(WAIT_S)
        assert [each.group_id for each in listed.valid] == ["kept"]


def commit(broker: RunningBroker, group: str, where: TopicPartition) -> None:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": group, **QUICK})
    consumer.commit(offsets=[where], asynchronous=False)
    consumer.close()


def committed(broker: RunningBroker, group: str, topic: str) -> tuple[int, str | None]:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": group, **QUICK})
    (found,) = consumer.committed([TopicPartition(topic, 0)], WAIT_S)
    consumer.close()
    return found.offset, found.metadata or None
