"""Offsets as the first consumers kept them: each in a znode of its own, under `/consumers`.

Version 0 of OffsetCommit and OffsetFetch speaks of these, and of no coordinator.
"""

from __future__ import annotations

from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.zookeeper.client.errors import ZooKeeperError


def offset_path(group_id: str, where: TopicPartition) -> str:
    return f"/consumers/{group_id}/offsets/{where.topic}/{where.partition}"


async def write_offset(
    keeper: Keeper, group_id: str, where: TopicPartition, offset: int
) -> ErrorCode:
    try:
        await keeper.write(offset_path(group_id, where), str(offset).encode())
    except (ZooKeeperError, ValueError):  # A group may have a name that makes no path.
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return ErrorCode.NONE


async def read_offset(
    keeper: Keeper, group_id: str, where: TopicPartition
) -> int | ErrorCode | None:
    """The offset; None if there is none."""
    try:
        found = await keeper.read(offset_path(group_id, where))
        return None if found is None else int(found[0])
    except (ZooKeeperError, ValueError):
        return ErrorCode.UNKNOWN_SERVER_ERROR
