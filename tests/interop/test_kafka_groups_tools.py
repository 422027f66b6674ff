"""Apache's tools for groups, transactions and quotas say of our broker what they say of Apache's.

Members are librdkafka's, with names of their own, so that who gets which partitions is no chance.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.interop.kafka_pair import Brokers, both_brokers
from tests.interop.kafka_text import Broker
from tests.interop.kafka_tools import assert_equal, same_table
from tests.kafka.server.dialogues_records import TIME_MS, records
from tests.kafka.server.transcript import Transcript
from tests.waiting import wait_until

WAIT_S = 30
TOOL_TIMEOUT_MS = "60000"  # Five seconds, unless it is told otherwise.
PARTITIONS = 4
HANGING_PRODUCER = 7777
TOPIC = "told"
SETTINGS: dict[str, object] = {
    "offsets.topic.num.partitions": 3,
    "transaction.state.log.num.partitions": 3,
    # So that a transaction can be written which no coordinator knows.
    "transaction.partition.verification.enable": "false",
}


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brokers]:
    with both_brokers(tmp_path_factory.mktemp("brokers"), **SETTINGS) as pair:
        partitions = ("--partitions", str(PARTITIONS))
        assert_equal(pair, "kafka-topics", "--create", "--topic", TOPIC, *partitions)
        for broker in (pair.ours, pair.theirs):
            fill(broker)
        yield pair


def fill(broker: Broker) -> None:
    producer = Producer({"bootstrap.servers": broker.address})
    for number in range(20 * PARTITIONS):
        place = {"partition": number % PARTITIONS, "timestamp": TIME_MS + 1000 * number}
        producer.produce(TOPIC, b"%d" % number, **place)
    assert producer.flush(WAIT_S) == 0


def groups(brokers: Brokers, *arguments: str) -> list[str]:
    return same_table(brokers, "kafka-consumer-groups", "--timeout", TOOL_TIMEOUT_MS, *arguments)


def commit(broker: Broker, group: str, *offsets: int) -> None:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": group})
    places = [TopicPartition(TOPIC, *each) for each in enumerate(offsets)]
    consumer.commit(offsets=places, asynchronous=False)
    consumer.close()


@contextmanager
def members(broker: Broker, group: str, names: list[str]) -> Iterator[None]:
    """Members of a group, as long as the block, once each has its share."""
    with ExitStack() as stack:
        consumers = [member(broker, group, name) for name in names]
        for each in consumers:
            stack.callback(each.close)

        def is_settled() -> bool:
            for each in consumers:
                each.poll(0.02)
            sizes = [len(each.assignment()) for each in consumers]
            return sizes == [PARTITIONS // len(names)] * len(names)

        wait_until(is_settled, WAIT_S)
        for each in consumers:
            offsets = [TopicPartition(TOPIC, it.partition, 7) for it in each.assignment()]
            each.commit(offsets=offsets, asynchronous=False)
        yield


def member(broker: Broker, group: str, name: str) -> Consumer:
    given = {"bootstrap.servers": broker.address, "group.id": group, "client.id": f"client-{name}"}
    static = {"group.instance.id": name, "partition.assignment.strategy": "range"}
    reset = {"auto.offset.reset": "latest", "enable.auto.commit": False}
    consumer = Consumer({**given, **static, **reset, "session.timeout.ms": 45_000})
    consumer.subscribe([TOPIC])
    return consumer


def test_a_living_group(brokers: Brokers) -> None:
    names = ["a", "b"]
    with members(brokers.ours, "living", names), members(brokers.theirs, "living", names):
        assert "living Stable" in groups(brokers, "--list", "--state")
        assert groups(brokers, "--list", "--state", "Empty") == ["GROUP STATE"]
        one = ("--describe", "--group", "living")
        lines = groups(brokers, *one)
        assert "living told 0 7 20 13 a-UUID /127.0.0.1 client-a" in lines
        assert "living a-UUID a /127.0.0.1 client-a 2" in groups(brokers, *one, "--members")
        assert any("(0,1)" in it for it in groups(brokers, *one, "--members", "--verbose"))
        assert "living BROKER (1) range Stable 2" in groups(brokers, *one, "--state")
        groups(brokers, "--describe", "--all-groups")
        for command in (("--delete",), ("--delete-offsets", "--topic", TOPIC)):
            refused = groups(brokers, *command, "--group", "living")
            assert any("Error" in it for it in refused), refused
        reset = ("--reset-offsets", "--to-earliest", "--topic", TOPIC, "--execute")
        refused = groups(brokers, *reset, "--group", "living")
        assert any("inactive" in it for it in refused), refused


def test_offsets_are_reset(brokers: Brokers, tmp_path: Path) -> None:
    for broker in (brokers.ours, brokers.theirs):
        commit(broker, "reset", 3, 5, 8, 13)
    plan = tmp_path / "plan.csv"
    plan.write_text(f"{TOPIC},0,11\n{TOPIC},3,12\n")
    reset = ("--reset-offsets", "--group", "reset")
    all_topics = ("--all-topics",)
    modes: list[tuple[str, ...]] = [
        ("--to-current", *all_topics),
        ("--to-offset", "4", *all_topics),
        ("--to-offset", "4000", *all_topics),
        ("--shift-by", "-2", "--topic", f"{TOPIC}:1,2"),
        ("--shift-by", "100", *all_topics),
        ("--to-datetime", "2023-11-14T22:13:30.000", *all_topics),
        ("--by-duration", "PT1H", *all_topics),
        ("--to-latest", *all_topics),
        ("--to-earliest", "--topic", TOPIC),
        ("--from-file", str(plan)),
    ]
    for mode in modes:
        planned = groups(brokers, *reset, *mode, "--dry-run")
        assert groups(brokers, *reset, *mode, "--execute") == planned
    groups(brokers, *reset, "--to-current", *all_topics, "--export", "--dry-run")
    assert "reset told 3 12 20 8 - - -" in groups(brokers, "--describe", "--group", "reset")


def test_groups_and_offsets_are_deleted(brokers: Brokers) -> None:
    for broker in (brokers.ours, brokers.theirs):
        commit(broker, "deleted", 3, 5, 8)
    one = ("--group", "deleted")
    groups(brokers, "--delete-offsets", *one, "--topic", f"{TOPIC}:0,1")
    groups(brokers, "--delete-offsets", *one, "--topic", f"{TOPIC}:9")
    assert any("told 2 8" in it for it in groups(brokers, "--describe", *one))
    assert len(groups(brokers, "--describe", *one, "--members")) == 1
    groups(brokers, "--delete", *one)
    groups(brokers, "--delete", *one)
    groups(brokers, "--describe", *one)
    assert "deleted" not in groups(brokers, "--list")


def transactions(brokers: Brokers, *arguments: str) -> list[str]:
    return same_table(brokers, "kafka-transactions", *arguments)


def begun(broker: Broker, name: str, partitions: int) -> Producer:
    settings = {"bootstrap.servers": broker.address, "transactional.id": name}
    producer = Producer({**settings, "transaction.timeout.ms": 600_000})  # Tools start slowly.
    producer.init_transactions(WAIT_S)
    producer.begin_transaction()
    for partition in range(partitions):
        producer.produce(TOPIC, name.encode(), partition=partition)
    assert producer.flush(WAIT_S) == 0
    return producer


def test_transactions(brokers: Brokers) -> None:
    both = (brokers.ours, brokers.theirs)
    open_ones = [begun(broker, "open", 2) for broker in both]
    for broker in both:
        begun(broker, "committed", 3).commit_transaction(WAIT_S)
        begun(broker, "aborted", 1).abort_transaction(WAIT_S)
    listed = transactions(brokers, "list")
    assert [line.split()[0] for line in listed] == [
        "TransactionalId", "aborted", "committed", "open",
    ]  # fmt: skip
    transactions(brokers, "list", "--duration-filter", "600000")
    for name in ("open", "committed", "aborted", "unknown"):
        transactions(brokers, "describe", "--transactional-id", name)
    for partition in range(PARTITIONS):
        place = ("--topic", TOPIC, "--partition", str(partition))
        transactions(brokers, "describe-producers", *place)
    for each in open_ones:
        each.commit_transaction(WAIT_S)


def hang(broker: Broker) -> None:
    """Write records of a transaction of which no coordinator will ever hear."""
    envelope = Envelope(
        producer_id=HANGING_PRODUCER, producer_epoch=3, base_sequence=0, is_transactional=True
    )
    data = PartitionProduceData(index=3, records=write_batch(records(2, TIME_MS), envelope))
    topics = [TopicProduceData(name=TOPIC, partition_data=[data])]
    request = ProduceRequest(
        transactional_id="unheard", acks=-1, timeout_ms=10_000, topic_data=topics
    )
    with Transcript(broker.port) as to:
        answer = to.ask_silently(request, 9, ProduceResponse)
    assert answer.responses[0].partition_responses[0].error_code == 0


def committed_end(broker: Broker) -> int:
    """Where readers of committed records stop."""
    given = {"bootstrap.servers": broker.address, "group.id": "unused"}
    consumer = Consumer({**given, "isolation.level": "read_committed"})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(TOPIC, 3), WAIT_S)
        return int(end)
    except KafkaException:
        return -1
    finally:
        consumer.close()


def test_a_hanging_transaction_is_found_and_ended(brokers: Brokers) -> None:
    both = (brokers.ours, brokers.theirs)
    for broker in both:
        hang(broker)
    old = ("--max-transaction-timeout", "0")
    for place in (("--topic", TOPIC), ("--topic", TOPIC, "--partition", "3"), ("--broker-id", "1")):
        found = transactions(brokers, "find-hanging", *place, *old)
        assert any(str(HANGING_PRODUCER) in line for line in found), found
    place = ("--topic", TOPIC, "--partition", "3")
    ends = [committed_end(broker) for broker in both]
    assert ends[0] == ends[1]
    transactions(brokers, "abort", *place, "--start-offset", str(ends[0]))
    assert [committed_end(broker) for broker in both] == [it + 3 for it in ends]
    found = transactions(brokers, "find-hanging", *place, *old)
    assert not any(str(HANGING_PRODUCER) in line for line in found)
    transactions(brokers, "abort", *place, "--start-offset", "1000")


def test_quotas(brokers: Brokers) -> None:
    def configs(*arguments: str) -> list[str]:
        return same_table(brokers, "kafka-configs", *arguments)

    rates = "producer_byte_rate=1024,consumer_byte_rate=2048,request_percentage=12.5"
    entities: list[tuple[str, ...]] = [
        ("--entity-type", "users", "--entity-name", "u 1"),
        ("--entity-type", "clients", "--entity-name", "c/1"),
        ("--entity-type", "users", "--entity-default"),
        ("--entity-type", "users", "--entity-name", "u", "--entity-type", "clients",
         "--entity-name", "c"),
        ("--entity-type", "users", "--entity-default", "--entity-type", "clients",
         "--entity-default"),
    ]  # fmt: skip
    for entity in entities:
        configs("--alter", *entity, "--add-config", rates)
        assert any("consumer_byte_rate=2048.0" in it for it in configs("--describe", *entity))
    address = ("--entity-type", "ips", "--entity-name", "127.0.0.7")
    configs("--alter", *address, "--add-config", "connection_creation_rate=50")
    configs("--describe", *address)
    assert len(configs("--describe", "--entity-type", "users")) == 2
    configs("--describe", "--entity-type", "users", "--entity-type", "clients")
    configs("--alter", *entities[0], "--add-config", "no_such_rate=1")
    for entity in entities:
        configs("--alter", *entity, "--delete-config", "producer_byte_rate")
    configs("--describe", *entities[0])
