"""Members of consumer groups: librdkafka's, in the test's process or in one that can be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until

WAIT_S = 20
POLL_S = 0.02
AGAIN_SOON: dict[str, object] = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100}
QUICK: dict[str, object] = {
    **AGAIN_SOON,
    "session.timeout.ms": 1000,
    "heartbeat.interval.ms": 100,
    "enable.auto.commit": False,
    "auto.offset.reset": "earliest",
    "topic.metadata.refresh.interval.ms": 500,
}
OF_A_CHILD = """
import sys
from confluent_kafka import Consumer
address, group, topic = sys.argv[1:]
consumer = Consumer({
    "bootstrap.servers": address, "group.id": group, "session.timeout.ms": 1000,
    "heartbeat.interval.ms": 100, "enable.auto.commit": False,
})
consumer.subscribe([topic])
while True:
    consumer.poll(0.1)
"""


class Member:
    """A consumer that notes what it is given and what is taken from it."""

    def __init__(
        self, broker: RunningBroker, group: str, topic: str, settings: dict[str, object]
    ) -> None:
        given = {"bootstrap.servers": broker.address, "group.id": group, **QUICK, **settings}
        self.consumer = Consumer(given)
        self.assigned: list[list[int]] = []
        self.revoked: list[list[int]] = []
        self.values: list[bytes] = []
        self.consumer.subscribe([topic], on_assign=self._assign, on_revoke=self._revoke)

    @property
    def partitions(self) -> set[int]:
        return {each.partition for each in self.consumer.assignment()}

    def poll(self) -> None:
        message = self.consumer.poll(POLL_S)
        if message is not None and not message.error():
            value = message.value()
            assert value is not None
            self.values.append(value)

    def close(self) -> None:
        self.consumer.close()

    def _assign(self, consumer: Consumer, partitions: list[Any]) -> None:
        self.assigned.append([each.partition for each in partitions])

    def _revoke(self, consumer: Consumer, partitions: list[Any]) -> None:
        self.revoked.append([each.partition for each in partitions])


class Child:
    """A member in a process of its own."""

    def __init__(self, broker: RunningBroker, group: str, topic: str) -> None:
        command = [sys.executable, "-c", OF_A_CHILD, broker.address, group, topic]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def hang(self) -> None:
        os.kill(self._process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(WAIT_S)


@contextmanager
def child(broker: RunningBroker, group: str, topic: str) -> Iterator[Child]:
    running = Child(broker, group, topic)
    try:
        yield running
    finally:
        running.kill()


@contextmanager
def members(
    broker: RunningBroker, group: str, topic: str, count: int = 1, /, **settings: object
) -> Iterator[list[Member]]:
    """Members of a group as long as the block; `shares` and `until_shared` poll them."""
    keys = {key.replace("_", "."): value for key, value in settings.items()}
    joined = [Member(broker, group, topic, keys) for _ in range(count)]
    try:
        yield joined
    finally:
        for each in joined:
            each.close()


def shares(those: list[Member], *counts: int) -> bool:
    """Poll all once; whether they have so many partitions each, and none twice."""
    for each in those:
        each.poll()
    owned = [each.partitions for each in those]
    is_disjoint = len(set().union(*owned)) == sum(map(len, owned))
    return is_disjoint and sorted(map(len, owned)) == sorted(counts)


def until_shared(those: list[Member], *counts: int) -> None:
    wait_until(lambda: shares(those, *counts))


def make_topic(broker: RunningBroker, topic: str, partitions: int = 1) -> str:
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.create_topics([NewTopic(topic, partitions, 1)])[topic].result(WAIT_S)
    return topic


def send(broker: RunningBroker, topic: str, *values: bytes, partition: int = 0) -> None:
    producer = Producer({"bootstrap.servers": broker.address})
    for value in values:
        producer.produce(topic, value, partition=partition)
    assert producer.flush(WAIT_S) == 0
