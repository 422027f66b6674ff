"""Consumer groups of aiokafka; and many members at once, one socket each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.structs import OffsetAndMetadata

from tests.kafka.clients.members import WAIT_S, make_topic, send
from tests.kafka.server.running import RunningBroker

Named = Callable[[], str]
MANY = 200


@pytest.fixture
def topic(coordinator: RunningBroker, name: Named) -> str:
    return make_topic(coordinator, name(), 4)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 3 * WAIT_S))


def consumer(broker: RunningBroker, group: str, *topics: str, **settings: Any) -> Any:
    given: dict[str, Any] = {
        "session_timeout_ms": 10_000,
        "heartbeat_interval_ms": 100,
        "enable_auto_commit": False,
        "auto_offset_reset": "earliest",
        **settings,
    }
    return AIOKafkaConsumer(*topics, bootstrap_servers=broker.address, group_id=group, **given)


async def until(condition: Callable[[], object]) -> None:
    while not condition():
        await asyncio.sleep(0.01)


def test_members_share_the_partitions_and_take_over(coordinator: RunningBroker, topic: str) -> None:
    async def story() -> None:
        async with consumer(coordinator, topic, topic) as first:
            await until(lambda: len(first.assignment()) == 4)
            async with consumer(coordinator, topic, topic) as second:
                await until(lambda: len(first.assignment()) == len(second.assignment()) == 2)
            await until(lambda: len(first.assignment()) == 4)

    run(story())


def test_offsets_and_metadata_come_back(coordinator: RunningBroker, topic: str) -> None:
    async def story() -> None:
        send(coordinator, topic, *(b"%d" % number for number in range(5)))
        where = TopicPartition(topic, 0)
        async with consumer(coordinator, topic, topic) as member:
            records = [await asyncio.wait_for(member.getone(), WAIT_S) for _ in range(3)]
            assert [each.value for each in records] == [b"0", b"1", b"2"]
            await member.commit({where: OffsetAndMetadata(3, "three read")})
        async with consumer(coordinator, topic, topic) as member:
            assert await member.committed(where) == 3
            assert (await asyncio.wait_for(member.getone(), WAIT_S)).value == b"3"

    run(story())


def test_two_hundred_members_own_every_partition_once(
    coordinator: RunningBroker, name: Named
) -> None:
    topic = make_topic(coordinator, name(), MANY)

    everything = {TopicPartition(topic, number): 1 for number in range(MANY)}

    def owned(those: list[Any]) -> Counter[TopicPartition]:
        return Counter(where for each in those for where in each.assignment())

    async def story() -> None:
        settings = {"session_timeout_ms": 30_000, "heartbeat_interval_ms": 200}
        those = [consumer(coordinator, topic, topic, **settings) for _ in range(MANY)]
        async with AsyncExitStack() as stack:
            await asyncio.gather(*(stack.enter_async_context(each) for each in those))
            # As long as some are of an older generation, two may have the same.
            await until(lambda: owned(those) == everything)
            assert {len(each.assignment()) for each in those} == {1}

    run(story())
