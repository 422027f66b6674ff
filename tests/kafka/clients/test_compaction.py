"""Compaction as clients see it, by a broker in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from tests.kafka.server.running import RunningBroker, running_broker
from tests.waiting import wait_until

WAIT_S = 20
SETTINGS: dict[str, object] = {
    "log.cleaner.backoff.ms": 50,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "log.retention.check.interval.ms": 100,
    "log.segment.delete.delay.ms": 100,
}
Pair = tuple[bytes, bytes | None]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with running_broker(tmp_path_factory.mktemp("compacting"), **SETTINGS) as running:
        yield running


def created(broker: RunningBroker, topic: str, **config: str) -> None:
    keys = {"cleanup.policy": "compact", "segment.bytes": "20000"}
    keys |= {key.replace("_", "."): value for key, value in config.items()}
    admin = AdminClient({"bootstrap.servers": broker.address})
    new = NewTopic(topic, num_partitions=1, replication_factor=1, config=keys)
    admin.create_topics([new])[topic].result(WAIT_S)


def produced(broker: RunningBroker, topic: str, pairs: Sequence[Pair]) -> None:
    producer = Producer({"bootstrap.servers": broker.address, "batch.num.messages": 50})

    def answered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            raise KafkaException(error)

    for key, value in pairs:
        producer.produce(topic, value, key, on_delivery=answered)
    assert producer.flush(WAIT_S) == 0


def consumed(broker: RunningBroker, topic: str) -> list[tuple[int, Pair]]:
    """All that is there now, with offsets."""
    where = TopicPartition(topic, 0, OFFSET_BEGINNING)
    consumer = Consumer(
        {"bootstrap.servers": broker.address, "group.id": "g", "enable.partition.eof": True}
    )
    consumer.assign([where])
    found: list[tuple[int, Pair]] = []
    while True:
        message = consumer.poll(WAIT_S)
        assert message is not None, "the end does not come"
        if (error := message.error()) is not None:
            assert error.code() == KafkaError._PARTITION_EOF
            consumer.close()
            return found
        found.append((message.offset(), (message.key(), message.value())))


def rounds(keys: int, count: int, first: int = 0) -> list[Pair]:
    return [
        (b"key-%03d" % key, b"value-%05d" % number)
        for number in range(first, first + count)
        for key in range(keys)
    ]


def clean_up_to(broker: RunningBroker, topic: str) -> int:
    """What the cleaner's checkpoint says."""
    checkpoint = broker.data / "cleaner-offset-checkpoint"
    lines = checkpoint.read_text().splitlines()[2:] if checkpoint.exists() else []
    offsets = {name: int(offset) for name, _, offset in (line.split(" ") for line in lines)}
    return offsets.get(topic, 0)


def bases(broker: RunningBroker, topic: str) -> list[int]:
    return sorted(int(path.stem) for path in (broker.data / f"{topic}-0").glob("*.log"))


def until_clean(broker: RunningBroker, topic: str) -> int:
    """Wait until all but the active segment is clean; return up to where."""
    wait_until(lambda: 0 < bases(broker, topic)[-1] == clean_up_to(broker, topic))
    return clean_up_to(broker, topic)


def test_the_last_value_of_each_key_stays_in_its_place(broker: RunningBroker) -> None:
    created(broker, "last")
    pairs = rounds(keys=20, count=300)
    produced(broker, "last", pairs)
    end = until_clean(broker, "last")
    found = consumed(broker, "last")
    assert len(found) < len(pairs)
    assert all(pairs[offset] == pair for offset, pair in found)
    assert [offset for offset, _ in found] == sorted(offset for offset, _ in found)
    assert dict(pair for _, pair in found) == dict(pairs)
    below = [pair[0] for offset, pair in found if offset < end]
    assert len(below) == len(set(below))


def test_a_tombstone_goes_in_the_end(broker: RunningBroker) -> None:
    created(broker, "tomb", delete_retention_ms="0")
    dead = {b"key-003", b"key-004"}
    produced(broker, "tomb", [*rounds(keys=5, count=10), *((key, None) for key in dead)])

    def is_forgotten() -> bool:
        produced(broker, "tomb", [(b"other", b"x" * 100)] * 250)
        until_clean(broker, "tomb")
        return {pair[0] for _, pair in consumed(broker, "tomb")}.isdisjoint(
            {b"key-003", b"key-004"}
        )

    wait_until(is_forgotten)
    alive = {pair[0] for _, pair in consumed(broker, "tomb")}
    assert {b"key-000", b"key-001", b"key-002", b"other"} <= alive


def test_what_is_compacted_and_deleted_loses_its_oldest_too(broker: RunningBroker) -> None:
    created(broker, "both", cleanup_policy="compact,delete", retention_bytes="50000")
    pairs = [(b"key-%05d" % number, b"x" * 100) for number in range(2000)]  # Each key once.
    produced(broker, "both", pairs)
    wait_until(lambda: bases(broker, "both")[0] > 0 and clean_up_to(broker, "both") > 0)

    def is_short() -> bool:
        found = consumed(broker, "both")
        return bool(found) and found[0][0] > 0 and found[-1][0] == len(pairs) - 1

    wait_until(is_short)


def test_a_topic_that_becomes_compacted_is_cleaned(broker: RunningBroker) -> None:
    created(broker, "later", cleanup_policy="delete")
    produced(broker, "later", rounds(keys=10, count=300))
    assert clean_up_to(broker, "later") == 0
    entry = ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.TOPIC, "later", incremental_configs=[entry])
    admin = AdminClient({"bootstrap.servers": broker.address})
    admin.incremental_alter_configs([resource])[resource].result(WAIT_S)
    until_clean(broker, "later")


def test_a_broker_killed_in_the_midst_of_a_cleaning_loses_nothing(tmp_path: Path) -> None:
    slowly = {**SETTINGS, "log.cleaner.io.max.bytes.per.second": 1_000_000}
    with running_broker(tmp_path, **slowly) as broker:
        created(broker, "t", segment_bytes="100000")
        pairs = rounds(keys=50, count=500)
        produced(broker, "t", pairs)
        log = broker.data / "t-0"
        for _ in range(2):
            wait_until(lambda: any(log.glob("*.cleaned")))
            broker.kill()
            broker.start()
        found = consumed(broker, "t")
        assert all(pairs[offset] == pair for offset, pair in found)
        assert dict(pair for _, pair in found) == dict(pairs)
