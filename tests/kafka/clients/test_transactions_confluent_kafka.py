"""Transactions of librdkafka: all or nothing, whoever crashes, hangs or comes back as a zombie."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.kafka.clients.members import (
    QUICK,
    WAIT_S,
    make_topic,
    members,
    send,
    shares,
    until_shared,
)
from tests.kafka.clients.transacting import Reader, committed_values, producer, transact
from tests.kafka.server.running import RunningBroker
from tests.waiting import wait_until

Named = Callable[[], str]


@pytest.fixture
def topic(coordinator: RunningBroker, name: Named) -> str:
    return make_topic(coordinator, name(), 2)


def committed(broker: RunningBroker, group: str, where: TopicPartition) -> int:
    consumer = Consumer({"bootstrap.servers": broker.address, "group.id": group, **QUICK})
    (found,) = consumer.committed([where], WAIT_S)
    consumer.close()
    return int(found.offset)


def test_readers_of_committed_data_never_see_what_was_aborted(
    coordinator: RunningBroker, topic: str
) -> None:
    made = producer(coordinator, topic)
    transact(made, topic, b"1", b"2")
    transact(made, topic, b"aborted", b"too", is_commit=False)
    transact(made, topic, b"3")
    send(coordinator, topic, b"end")
    assert committed_values(coordinator, topic, b"end") == [b"1", b"2", b"3"]
    everything = Reader(coordinator, topic, is_committed=False)
    values = everything.until(lambda values: b"end" in values)
    assert values == [b"1", b"2", b"aborted", b"too", b"3", b"end"]
    everything.close()


def test_what_is_not_decided_holds_back_all_that_follows(
    coordinator: RunningBroker, topic: str
) -> None:
    made = producer(coordinator, topic)
    made.begin_transaction()
    made.produce(topic, b"undecided", partition=0)
    made.flush(WAIT_S)
    send(coordinator, topic, b"after")
    anything = Reader(coordinator, topic, is_committed=False)
    anything.until(lambda values: values == [b"undecided", b"after"])
    anything.close()
    reader = Reader(coordinator, topic)
    assert reader.read() == []
    made.commit_transaction(WAIT_S)
    reader.until(lambda values: values == [b"undecided", b"after"])
    reader.close()


def test_many_transactions_are_all_or_nothing(coordinator: RunningBroker, topic: str) -> None:
    chance = Random(7)
    those = [producer(coordinator, f"{topic}-{number}") for number in range(3)]
    wanted: list[bytes] = []
    for number in range(60):
        values = [b"%d.%d" % (number, each) for each in range(chance.randint(1, 4))]
        is_commit = chance.random() < 0.6
        transact(chance.choice(those), topic, *values, is_commit=is_commit, partitions=2)
        wanted += values if is_commit else []
    for partition in range(2):
        send(coordinator, topic, b"end", partition=partition)
    assert sorted(committed_values(coordinator, topic, b"end", 2)) == sorted(wanted)


def test_consume_transform_produce_counts_every_record_once(
    coordinator: RunningBroker, topic: str, name: Named
) -> None:
    source = make_topic(coordinator, name())
    send(coordinator, source, *(b"%d" % number for number in range(30)))
    made = producer(coordinator, topic)
    with members(coordinator, source, source) as (member,):
        until_shared([member], 1)
        for done in range(0, 30, 3):
            wait_until(lambda end=done + 3: shares([member], 1) and len(member.values) >= end)  # type: ignore[misc]
            values = member.values[done : done + 3]
            if done % 2:
                transform(made, member.consumer, source, topic, values)
                made.abort_transaction(WAIT_S)
            transform(made, member.consumer, source, topic, values)
            made.commit_transaction(WAIT_S)
    send(coordinator, topic, b"end")
    wanted = [b"%d!" % number for number in range(30)]
    assert committed_values(coordinator, topic, b"end") == wanted
    assert committed(coordinator, source, TopicPartition(source, 0)) == 30


def transform(
    made: Producer, consumer: Consumer, source: str, topic: str, values: list[bytes]
) -> None:
    """A transaction up to its end: results, and how far their source was read."""
    made.begin_transaction()
    for value in values:
        made.produce(topic, value + b"!", partition=0)
    offsets = [TopicPartition(source, 0, int(values[-1]) + 1)]
    made.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), WAIT_S)


def test_offsets_of_an_aborted_transaction_never_were(
    coordinator: RunningBroker, topic: str
) -> None:
    made = producer(coordinator, topic)
    where = TopicPartition(topic, 0, 5)
    consumer = Consumer({"bootstrap.servers": coordinator.address, "group.id": topic, **QUICK})
    for is_commit in (True, False):
        made.begin_transaction()
        where.offset += 1
        made.send_offsets_to_transaction([where], consumer.consumer_group_metadata(), WAIT_S)
        if is_commit:
            made.commit_transaction(WAIT_S)
        else:
            made.abort_transaction(WAIT_S)
    consumer.close()
    assert committed(coordinator, topic, where) == 6


def test_a_zombie_is_fenced(coordinator: RunningBroker, topic: str) -> None:
    older = producer(coordinator, topic)
    older.begin_transaction()
    older.produce(topic, b"of the zombie", partition=0)
    older.flush(WAIT_S)
    newer = producer(coordinator, topic)
    transact(newer, topic, b"of the living")
    with pytest.raises(KafkaException) as refused:
        older.commit_transaction(WAIT_S)
    assert refused.value.args[0].code() == KafkaError._FENCED
    send(coordinator, topic, b"end")
    assert committed_values(coordinator, topic, b"end") == [b"of the living"]


def test_a_timeout_above_the_maximum_is_refused(coordinator: RunningBroker, topic: str) -> None:
    with pytest.raises(KafkaException) as refused:
        producer(coordinator, topic, transaction_timeout_ms=60_001)
    assert refused.value.args[0].code() == KafkaError.INVALID_TRANSACTION_TIMEOUT


def test_who_takes_too_long_is_aborted(coordinator: RunningBroker, topic: str) -> None:
    made = producer(coordinator, topic, transaction_timeout_ms=1000)
    made.begin_transaction()
    made.produce(topic, b"late", partition=0)
    made.flush(WAIT_S)
    send(coordinator, topic, b"end")
    assert committed_values(coordinator, topic, b"end") == []
    with pytest.raises(KafkaException):
        made.commit_transaction(WAIT_S)
