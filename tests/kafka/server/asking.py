"""A few questions to a broker, by way of librdkafka."""

from __future__ import annotations

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.processes import ServerProcess

WAIT_S = 20


def created(broker: ServerProcess, topic: str, partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": broker.address})
    new = NewTopic(topic, num_partitions=partitions, replication_factor=1)
    admin.create_topics([new])[topic].result(WAIT_S)


def produced(broker: ServerProcess, topic: str, partition: int, *values: bytes) -> None:
    """Send, and wait until all are answered; raise what was answered."""
    producer = Producer({"bootstrap.servers": broker.address, "linger.ms": 0, "acks": "all"})

    def answered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)

    for value in values:
        producer.produce(topic, value, partition=partition, on_delivery=answered)
    assert producer.flush(WAIT_S) == 0


def consumed(broker: ServerProcess, topic: str, partition: int, count: int) -> list[bytes | None]:
    """The first values of a partition."""
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "none"})
    consumer.assign([TopicPartition(topic, partition, 0)])
    values: list[bytes | None] = []
    while len(values) < count:
        messages = consumer.consume(count - len(values), WAIT_S)
        assert messages, f"only {len(values)} of {count} came"
        for message in messages:
            if message.error():
                raise KafkaException(message.error())
            values.append(message.value())
    return values
