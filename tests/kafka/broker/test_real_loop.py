"""The same on a real loop, with a real ZooKeeper in process: soon enough, and with real files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import uvloop

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


def test_a_thousand_partitions_come_and_go_in_seconds(tmp_path: Path) -> None:
    async def main() -> None:
        async with serving(tmp_path / "zookeeper") as zookeeper:
            connect = f"{HOST}:{zookeeper.port}/kafka"
            member = Member(1, HOST, OsDisk(), Random(1), zookeeper_connect=connect)
            member.port, member.directory = 0, str(tmp_path / "kafka")
            await member.start()
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
            await member.stop()

    uvloop.run(main())
