"""aiokafka cannot tell our broker from Apache's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic

from tests.kafka.server.running import RunningBroker

WAIT_S = 20
Named = Callable[[], str]


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 3 * WAIT_S))


async def fetch(broker: RunningBroker, where: TopicPartition, offset: int, count: int) -> list[Any]:
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.address, auto_offset_reset="none")
    await consumer.start()
    try:
        consumer.assign([where])
        consumer.seek(where, offset)
        return [await asyncio.wait_for(consumer.getone(), WAIT_S) for _ in range(count)]
    finally:
        await consumer.stop()


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_records_come_back_as_they_went_in(
    broker: RunningBroker, name: Named, codec: str | None
) -> None:
    topic = name()

    async def story() -> None:
        headers = [("h", b"1")]
        settings = {"compression_type": codec, "linger_ms": 10}
        async with AIOKafkaProducer(bootstrap_servers=broker.address, **settings) as producer:
            sent = [
                await producer.send(topic, b"%d" % n, b"k", 0, 1000 + n, headers)
                for n in range(100)
            ]
            assert [(await each).offset for each in sent] == list(range(100))
        records = await fetch(broker, TopicPartition(topic, 0), 40, 60)
        assert [record.value for record in records] == [b"%d" % n for n in range(40, 100)]
        assert [record.timestamp for record in records] == [1000 + n for n in range(40, 100)]
        assert {(record.key, tuple(record.headers)) for record in records} == {
            (b"k", (("h", b"1"),))
        }

    run(story())


def test_an_idempotent_producer(broker: RunningBroker, name: Named) -> None:
    topic = name()

    async def story() -> None:
        settings = {"enable_idempotence": True, "acks": "all"}
        async with AIOKafkaProducer(bootstrap_servers=broker.address, **settings) as producer:
            for n in range(50):
                assert (await producer.send_and_wait(topic, b"%d" % n)).offset == n

    run(story())


def test_topics_are_created_grown_and_deleted(broker: RunningBroker, name: Named) -> None:
    topic = name()

    async def story() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.address)
        await admin.start()
        try:
            await admin.create_topics([NewTopic(topic, 1, 1)])
            await admin.create_partitions({topic: NewPartitions(3)})
            described = await admin.describe_topics([topic])
            assert len(described[0]["partitions"]) == 3
            await admin.delete_topics([topic])
            assert topic not in await admin.list_topics()
        finally:
            await admin.close()

    run(story())


def test_a_reader_that_is_ahead_waits(broker: RunningBroker, name: Named) -> None:
    topic = name()

    async def story() -> None:
        async with AIOKafkaProducer(bootstrap_servers=broker.address) as producer:
            await producer.send_and_wait(topic, b"0")
            reading = asyncio.create_task(fetch(broker, TopicPartition(topic, 0), 1, 1))
            await producer.send_and_wait(topic, b"1")
            assert [record.value for record in await reading] == [b"1"]

    run(story())


def test_offsets_by_time(broker: RunningBroker, name: Named) -> None:
    topic = name()

    async def story() -> None:
        where = TopicPartition(topic, 0)
        async with AIOKafkaProducer(bootstrap_servers=broker.address) as producer:
            for time_ms in (1000, 2000, 3000):
                await producer.send_and_wait(topic, b"x", timestamp_ms=time_ms)
        consumer = AIOKafkaConsumer(bootstrap_servers=broker.address)
        await consumer.start()
        try:
            found = await consumer.offsets_for_times({where: 2000})
            assert found[where].offset == 1
            assert await consumer.end_offsets([where]) == {where: 3}
        finally:
            await consumer.stop()

    run(story())
