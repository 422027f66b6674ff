"""kafka-python cannot tell our broker from Apache's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic
from kafka.errors import MessageSizeTooLargeError, TopicAlreadyExistsError

from tests.kafka.server.running import RunningBroker

WAIT_S = 20
WAIT_MS = WAIT_S * 1000
Named = Callable[[], str]


@pytest.fixture
def admin(broker: RunningBroker) -> Iterator[Any]:
    with closing(KafkaAdminClient(bootstrap_servers=broker.address)) as client:
        yield client


@pytest.fixture
def topic(admin: Any, name: Named) -> str:
    topic = name()
    admin.create_topics([NewTopic(topic, 2, 1)])
    return topic


def producer(broker: RunningBroker, **settings: object) -> Any:
    return closing(KafkaProducer(bootstrap_servers=broker.address, **settings))


def fetch(broker: RunningBroker, where: TopicPartition, offset: int, count: int) -> list[Any]:
    consumer = KafkaConsumer(
        bootstrap_servers=broker.address, auto_offset_reset="none", consumer_timeout_ms=WAIT_MS
    )
    with closing(consumer):
        consumer.assign([where])
        consumer.seek(where, offset)
        records = list(islice(consumer, count))
    assert len(records) == count
    return records


def test_topics_are_created_listed_and_deleted(admin: Any, topic: str) -> None:
    assert topic in admin.list_topics()
    with pytest.raises(TopicAlreadyExistsError):
        admin.create_topics([NewTopic(topic, 2, 1)])
    admin.delete_topics([topic])
    assert topic not in admin.list_topics()


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_keyed_records_with_headers_in_every_codec(
    broker: RunningBroker, topic: str, codec: str | None
) -> None:
    headers = [("source", b"test"), ("empty", b"")]
    with producer(broker, compression_type=codec, linger_ms=20) as sender:
        futures = [
            sender.send(topic, b"%d" % n, b"key", headers, partition=1, timestamp_ms=1000 + n)
            for n in range(100)
        ]
        assert [it.get(WAIT_S).offset for it in futures] == list(range(100))
    records = fetch(broker, TopicPartition(topic, 1), 0, 100)
    assert [record.value for record in records] == [b"%d" % n for n in range(100)]
    assert [record.timestamp for record in records] == [1000 + n for n in range(100)]
    assert {record.key for record in records} == {b"key"}
    assert list(records[5].headers) == headers


def test_an_idempotent_producer(broker: RunningBroker, topic: str) -> None:
    with producer(broker, enable_idempotence=True, acks="all") as sender:
        futures = [sender.send(topic, b"%d" % n, partition=0) for n in range(500)]
        assert [it.get(WAIT_S).offset for it in futures] == list(range(500))


def test_offsets_by_time_and_at_both_ends(broker: RunningBroker, topic: str) -> None:
    where = TopicPartition(topic, 0)
    with producer(broker) as sender:
        for time_ms in (1000, 2000, 3000):
            sender.send(topic, b"x", partition=0, timestamp_ms=time_ms).get(WAIT_S)
    with closing(KafkaConsumer(bootstrap_servers=broker.address)) as consumer:
        assert consumer.offsets_for_times({where: 1500})[where].offset == 1
        assert consumer.offsets_for_times({where: 9000})[where] is None
        assert consumer.beginning_offsets([where]) == {where: 0}
        assert consumer.end_offsets([where]) == {where: 3}


def test_a_record_that_is_too_large_is_refused(broker: RunningBroker, topic: str) -> None:
    with (
        producer(broker, max_request_size=5_000_000) as sender,
        pytest.raises(MessageSizeTooLargeError),
    ):
        sender.send(topic, b"x" * 2_000_000, partition=0).get(WAIT_S)
    with producer(broker) as sender:
        assert sender.send(topic, b"small", partition=0).get(WAIT_S).offset == 0


def test_settings_are_described_and_altered(admin: Any, topic: str) -> None:
    admin.alter_configs(
        [ConfigResource(ConfigResourceType.TOPIC, topic, configs={"retention.ms": "777"})]
    )
    described = str(admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)]))
    assert "777" in described


def test_a_topic_is_created_by_asking_for_it(broker: RunningBroker, name: Named) -> None:
    topic = name()
    with producer(broker) as sender:
        assert sender.send(topic, b"first").get(WAIT_S).offset == 0
