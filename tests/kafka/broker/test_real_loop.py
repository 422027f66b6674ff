"""The same on a real loop, with a real ZooKeeper in process: soon enough, and with real files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import uvloop

from odradek.kafka.broker.leaving import be_relieved
from odradek.kafka.broker.topics import create_topic, delete_topic
from odradek.kafka.wire.errors import ErrorCode
from odradek.runtime.os_disk import OsDisk
from tests.kafka.broker.members import Member
from tests.zookeeper.server.in_process import HOST, serving

PARTITIONS = 1000
SECONDS_MAX = 10.0  # Two are usual, but the machine is not always ours alone.


async def until(member: Member, count: int) -> None:
    """Wait until so many partitions of the topic are known."""
    is_so = member.metadata.until(
        lambda: len(member.metadata.topics.get("t", ())) == count, SECONDS_MAX
    )
    assert await is_so, len(member.metadata.topics.get("t", ()))


@asynccontextmanager
async def members(directory: Path, *ids: int) -> AsyncIterator[list[Member]]:
    """Brokers of one cluster, in this loop, with a root of their own in ZooKeeper."""
    async with serving(directory / "zookeeper") as zookeeper:
        connect = f"{HOST}:{zookeeper.port}/kafka"
        made = [Member(it, HOST, OsDisk(), Random(it), zookeeper_connect=connect) for it in ids]
        for member in made:
            member.port, member.directory = 0, str(directory / f"kafka-{member.id}")
            await member.start()
        yield made
        for member in made:
            await member.stop()


def test_a_controller_reaches_other_brokers_by_their_listeners(tmp_path: Path) -> None:
    async def main() -> None:
        async with members(tmp_path, 1, 2) as (first, second):
            made = await create_topic(first.keeper, "t", {0: [2, 1], 1: [1, 2]}, {})
            assert isinstance(made, bytes)
            await until(second, 2)
            assert second.metadata.controller_id == 1
            assert not isinstance(second.broker.partitions.leader("t", 0), ErrorCode)
            relieved = await be_relieved(
                2, second.keeper, second.channel, second.configs.layers.broker, second.note
            )
            assert relieved
            is_so = first.metadata.until(lambda: first.metadata.topics["t"][0].leader == 1, 10)
            assert await is_so

    uvloop.run(main())


def test_a_thousand_partitions_come_and_go_in_seconds(tmp_path: Path) -> None:
    async def main() -> None:
        async with members(tmp_path, 1) as (member,):
            replicas = {index: [1] for index in range(PARTITIONS)}
            assert isinstance(await create_topic(member.keeper, "t", replicas, {}), bytes)
            await until(member, PARTITIONS)
            assert not isinstance(member.broker.partitions.leader("t", 999), ErrorCode)
            await delete_topic(member.keeper, "t")
            await until(member, 0)
            reign = member.controller.reign
            assert reign is not None
            async with asyncio.timeout(SECONDS_MAX):
                while "t" in reign.image.topics:
                    await asyncio.sleep(0.01)
            assert await member.keeper.children("/brokers/topics") == []

    uvloop.run(main())
