"""Transactions of aiokafka and of kafka-python."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing

import pytest
from aiokafka import AIOKafkaProducer, TopicPartition
from aiokafka.errors import ProducerFenced
from kafka import KafkaProducer

from tests.kafka.clients.members import WAIT_S, make_topic, send
from tests.kafka.clients.transacting import committed_values
from tests.kafka.server.running import RunningBroker

Named = Callable[[], str]


@pytest.fixture
def topic(coordinator: RunningBroker, name: Named) -> str:
    return make_topic(coordinator, name(), 2)


def test_aiokafka_commits_and_aborts(coordinator: RunningBroker, topic: str) -> None:
    async def story() -> None:
        given = {"bootstrap_servers": coordinator.address, "transactional_id": topic}
        async with AIOKafkaProducer(**given) as made:
            async with made.transaction():
                await made.send_and_wait(topic, b"kept", partition=0)
                offsets = {TopicPartition(topic, 1): 17}
                await made.send_offsets_to_transaction(offsets, topic)
            with pytest.raises(ZeroDivisionError):
                async with made.transaction():
                    await made.send_and_wait(topic, b"lost", partition=0)
                    raise ZeroDivisionError
            async with AIOKafkaProducer(**given) as newer, newer.transaction():
                await newer.send_and_wait(topic, b"kept too", partition=0)
            with pytest.raises(ProducerFenced):
                async with made.transaction():
                    await made.send_and_wait(topic, b"of the zombie", partition=0)

    asyncio.run(asyncio.wait_for(story(), 2 * WAIT_S))
    send(coordinator, topic, b"end")
    assert committed_values(coordinator, topic, b"end") == [b"kept", b"kept too"]


def test_kafka_python_commits_and_aborts(coordinator: RunningBroker, topic: str) -> None:
    made = KafkaProducer(bootstrap_servers=coordinator.address, transactional_id=topic)
    with closing(made):
        made.init_transactions()
        for value, is_commit in ((b"kept", True), (b"lost", False), (b"kept too", True)):
            made.begin_transaction()
            made.send(topic, value, partition=0).get(WAIT_S)
            if is_commit:
                made.commit_transaction()
            else:
                made.abort_transaction()
    send(coordinator, topic, b"end")
    assert committed_values(coordinator, topic, b"end") == [b"kept", b"kept too"]
