"""librdkafka, through confluent-kafka, cannot tell our broker from Apache's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until

WAIT_S = 20
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
Named = Callable[[], str]


@pytest.fixture
def admin(broker: RunningBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.address})


@pytest.fixture
def topic(admin: AdminClient, name: Named) -> str:
    return created(admin, name())


def created(admin: AdminClient, topic: str, partitions: int = 1, **config: str) -> str:
    keys = {key.replace("_", "."): value for key, value in config.items()}
    new = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=keys)
    admin.create_topics([new])[topic].result(WAIT_S)
    return topic


def producer(broker: RunningBroker, **settings: object) -> Producer:
    keys = {key.replace("_", "."): value for key, value in settings.items()}
    return Producer({"bootstrap.servers": broker.address, "linger.ms": 5, **keys})


def send(producer: Producer, topic: str, *values: bytes, **more: Any) -> list[Message]:
    """Send, and wait until all are answered; raise what was answered."""
    sent: list[Message] = []

    def answered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)
        sent.append(message)

    for value in values:
        producer.produce(topic, value, on_delivery=answered, **more)
    assert producer.flush(WAIT_S) == 0
    return sent


def fetch(broker: RunningBroker, *where: TopicPartition, count: int, **more: Any) -> list[Message]:
    """Read so many messages of assigned partitions."""
    settings = {"bootstrap.servers": broker.address, "group.id": "unused", **more}
    consumer = Consumer({"enable.auto.commit": False, "auto.offset.reset": "error", **settings})
    consumer.assign(list(where))
    messages: list[Message] = []
    while len(messages) < count:
        batch = consumer.consume(count - len(messages), WAIT_S)
        assert batch, f"only {len(messages)} of {count} came"
        for message in batch:
            if message.error():
                raise KafkaException(message.error())
        messages += batch
    consumer.close()
    return messages


def test_a_new_topic_is_described_with_its_partitions_and_leaders(
    admin: AdminClient, name: Named
) -> None:
    topic = created(admin, name(), 3)
    described = admin.describe_topics(TopicCollection([topic]))[topic].result(WAIT_S)
    assert [it.id for it in described.partitions] == [0, 1, 2]
    assert {it.leader.id for it in described.partitions} == {1}
    assert all([node.id for node in it.isr] == [1] for it in described.partitions)


def test_a_topic_that_exists_is_not_created_again(admin: AdminClient, topic: str) -> None:
    with pytest.raises(KafkaException) as refused:
        created(admin, topic)
    assert refused.value.args[0].code() == KafkaError.TOPIC_ALREADY_EXISTS


def test_a_deleted_topic_is_gone(admin: AdminClient, topic: str) -> None:
    admin.delete_topics([topic])[topic].result(WAIT_S)
    with pytest.raises(KafkaException) as refused:
        admin.describe_topics(TopicCollection([topic]))[topic].result(WAIT_S)
    assert refused.value.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def test_a_topic_grows(admin: AdminClient, topic: str, broker: RunningBroker) -> None:
    admin.create_partitions([NewPartitions(topic, 4)])[topic].result(WAIT_S)
    assert len(admin.list_topics(topic, WAIT_S).topics[topic].partitions) == 4
    send(producer(broker), topic, b"x", partition=3)
    assert fetch(broker, TopicPartition(topic, 3, 0), count=1)[0].value() == b"x"


@pytest.mark.parametrize("codec", CODECS)
def test_records_come_back_as_they_went_in(broker: RunningBroker, topic: str, codec: str) -> None:
    headers = [("a", b"1"), ("a", None), ("\N{GREEK SMALL LETTER OMEGA}", b"")]
    values = [f"value {number}".encode() * 20 for number in range(200)]
    before = producer(broker, compression_type=codec)
    send(before, topic, *values, key=b"k", headers=headers, timestamp=1_700_000_000_123)
    messages = fetch(broker, TopicPartition(topic, 0, 0), count=200, **{"check.crcs": True})
    assert [it.value() for it in messages] == values
    assert [it.offset() for it in messages] == list(range(200))
    assert {it.key() for it in messages} == {b"k"}
    assert messages[7].headers() == headers
    assert messages[7].timestamp()[1] == 1_700_000_000_123


@pytest.mark.parametrize("acks", ["0", "1", "all"])
def test_every_kind_of_acknowledgement(broker: RunningBroker, topic: str, acks: str) -> None:
    send(producer(broker, acks=acks), topic, b"1", b"2")
    messages = fetch(broker, TopicPartition(topic, 0, 0), count=2)
    assert [it.value() for it in messages] == [b"1", b"2"]


def test_an_idempotent_producer_writes_in_order(broker: RunningBroker, topic: str) -> None:
    values = [str(number).encode() for number in range(5000)]
    sent = send(producer(broker, enable_idempotence=True, batch_size=2000), topic, *values)
    assert [it.offset() for it in sent] == list(range(5000))
    messages = fetch(broker, TopicPartition(topic, 0, OFFSET_BEGINNING), count=5000)
    assert [it.value() for it in messages] == values


def test_a_reader_may_begin_in_the_middle_of_a_batch(broker: RunningBroker, topic: str) -> None:
    send(producer(broker, linger_ms=200), topic, *(str(n).encode() for n in range(100)))
    first = fetch(broker, TopicPartition(topic, 0, 57), count=1)[0]
    assert (first.offset(), first.value()) == (57, b"57")


def test_offsets_are_found_by_time(broker: RunningBroker, admin: AdminClient, topic: str) -> None:
    origin = producer(broker)
    for time_ms in (1000, 2000, 3000):
        send(origin, topic, b"x", b"y", timestamp=time_ms)
    where = TopicPartition(topic, 0)

    def offset(spec: OffsetSpec) -> int:
        found = admin.list_offsets({where: spec}, isolation_level=IsolationLevel.READ_UNCOMMITTED)
        return int(found[where].result(WAIT_S).offset)

    assert offset(OffsetSpec.for_timestamp(1500)) == 2
    assert offset(OffsetSpec.for_timestamp(3000)) == 4
    assert offset(OffsetSpec.for_timestamp(3001)) == -1
    assert offset(OffsetSpec.earliest()) == 0
    assert offset(OffsetSpec.latest()) == 6
    assert offset(OffsetSpec.max_timestamp()) == 4


def test_deleted_records_are_out_of_range(
    broker: RunningBroker, admin: AdminClient, topic: str
) -> None:
    send(producer(broker), topic, *(b"x" for _ in range(10)))
    where = TopicPartition(topic, 0, 4)
    deleted = admin.delete_records([where])[where].result(WAIT_S)
    assert deleted.low_watermark == 4
    with pytest.raises(KafkaException):
        fetch(broker, TopicPartition(topic, 0, 1), count=1)
    assert fetch(broker, TopicPartition(topic, 0, OFFSET_BEGINNING), count=1)[0].offset() == 4


def test_a_message_that_is_too_large_is_refused(
    broker: RunningBroker, admin: AdminClient, name: Named
) -> None:
    topic = created(admin, name(), max_message_bytes="2000")
    sender = producer(broker)
    send(sender, topic, b"x" * 1000)
    with pytest.raises(KafkaException) as refused:
        send(sender, topic, b"x" * 3000)
    assert refused.value.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE


def test_a_compacted_topic_takes_no_record_without_a_key(
    broker: RunningBroker, admin: AdminClient, name: Named
) -> None:
    topic = created(admin, name(), cleanup_policy="compact")
    sender = producer(broker)
    send(sender, topic, b"x", key=b"k")
    with pytest.raises(KafkaException) as refused:
        send(sender, topic, b"x")
    assert refused.value.args[0].code() == KafkaError.INVALID_RECORD


def test_a_topic_is_created_by_asking_for_it(broker: RunningBroker, name: Named) -> None:
    topic = name()
    send(producer(broker), topic, b"first")
    assert fetch(broker, TopicPartition(topic, 0, 0), count=1)[0].value() == b"first"


def test_all_settings_of_a_topic_are_listed(admin: AdminClient, name: Named) -> None:
    topic = created(admin, name(), retention_ms="123456")
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = admin.describe_configs([resource])[resource].result(WAIT_S)
    assert entries["retention.ms"].value == "123456"
    assert entries["retention.ms"].source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    assert entries["segment.bytes"].value == str(1 << 30)
    assert entries["segment.bytes"].is_default
    assert len(entries) == 36


def test_settings_of_a_topic_are_altered(
    broker: RunningBroker, admin: AdminClient, topic: str
) -> None:
    def alter(operation: AlterConfigOpType, value: str | None) -> None:
        entry = ConfigEntry("max.message.bytes", value, incremental_operation=operation)
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
        admin.incremental_alter_configs([resource])[resource].result(WAIT_S)

    def is_taken() -> bool:
        try:
            send(producer(broker), topic, b"x" * 2000)
        except KafkaException as refused:
            assert refused.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE
            return False
        return True

    # A broker hears of a change by a notification, so it takes a moment, as with Apache's.
    alter(AlterConfigOpType.SET, "1500")
    wait_until(lambda: not is_taken())
    alter(AlterConfigOpType.DELETE, None)
    wait_until(is_taken)


def test_the_broker_describes_itself(admin: AdminClient) -> None:
    resource = ConfigResource(ResourceType.BROKER, "1")
    entries = admin.describe_configs([resource])[resource].result(WAIT_S)
    assert entries["broker.id"].value == "1"
    assert entries["broker.id"].is_read_only
    assert entries["log.retention.hours"].value == "168"
    cluster = admin.describe_cluster().result(WAIT_S)
    assert [node.id for node in cluster.nodes] == [1]
    assert cluster.controller.id == 1


def test_a_reader_waits_for_what_is_not_there_yet(broker: RunningBroker, topic: str) -> None:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": "unused"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    assert consumer.poll(0.2) is None
    send(producer(broker), topic, b"late")
    message = consumer.poll(WAIT_S)
    assert message is not None and message.value() == b"late"
    consumer.close()
