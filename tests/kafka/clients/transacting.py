"""Transactional producers of librdkafka, and readers who see only what is committed."""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.kafka.clients.members import AGAIN_SOON, QUICK, WAIT_S
from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until


def producer(broker: RunningBroker, transactional_id: str, **settings: object) -> Producer:
    """One that may begin transactions."""
    keys = {key.replace("_", "."): value for key, value in settings.items()}
    given = {"bootstrap.servers": broker.address, "transactional.id": transactional_id, **keys}
    made = Producer({"linger.ms": 0, "retry.backoff.ms": 20, **AGAIN_SOON, **given})
    made.init_transactions(WAIT_S)
    return made


def transact(
    made: Producer, topic: str, *values: bytes, is_commit: bool = True, partitions: int = 1
) -> None:
    """One whole transaction, over the partitions in turn."""
    made.begin_transaction()
    for number, value in enumerate(values):
        made.produce(topic, value, partition=number % partitions)
    made.flush(WAIT_S)
    if is_commit:
        made.commit_transaction(WAIT_S)
    else:
        made.abort_transaction(WAIT_S)


class Reader:
    """Reads partitions from the start."""

    def __init__(
        self, broker: RunningBroker, topic: str, partitions: int = 1, *, is_committed: bool = True
    ) -> None:
        level = "read_committed" if is_committed else "read_uncommitted"
        given = {"bootstrap.servers": broker.address, "group.id": "unused", **QUICK}
        self._consumer = Consumer({**given, "isolation.level": level, "fetch.wait.max.ms": 50})
        self._consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        self.values: list[bytes] = []

    def read(self) -> list[bytes]:
        """All that was read so far, and a little more."""
        for message in self._consumer.consume(1000, 0.02):
            if message.error():
                raise KafkaException(message.error())
            value = message.value()
            assert value is not None
            self.values.append(value)
        return self.values

    def until(self, condition: Callable[[list[bytes]], object]) -> list[bytes]:
        wait_until(lambda: condition(self.read()))
        return self.values

    def close(self) -> None:
        self._consumer.close()


def committed_values(
    broker: RunningBroker, topic: str, last: bytes, partitions: int = 1
) -> list[bytes]:
    """What a reader of committed data sees, up to a value that is known to come last."""
    reader = Reader(broker, topic, partitions)
    reader.until(lambda values: values.count(last) == partitions)
    reader.close()
    return [value for value in reader.values if value != last]
