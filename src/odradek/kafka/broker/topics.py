"""Topics as they are made, grown and asked to go: in ZooKeeper, for the controller to see.

The config is written first, so that no broker can hear of a topic without one. Only the topic's
own node decides who made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.controller import paths
from odradek.kafka.controller.config_nodes import write_config
from odradek.kafka.controller.image import Assignment
from odradek.kafka.controller.znodes import TopicNode, read_topic, write_topic
from odradek.kafka.wire.errors import ErrorCode
from odradek.zookeeper.client.errors import BadVersion, NodeExists, NoNode

Replicas = Mapping[int, Sequence[int]]  # By partition.


async def create_topic(
    keeper: Keeper, name: str, replicas: Replicas, overrides: Mapping[str, str]
) -> bytes | ErrorCode:
    """Make a topic; its id, or TOPIC_ALREADY_EXISTS. Raises `ZooKeeperError`.

    Where the protocol is older than ids are, it is all zeros.
    """
    if await keeper.client.exists(paths.topic(name)) is not None:
        return ErrorCode.TOPIC_ALREADY_EXISTS  # Its config must not be touched.
    topic_id = keeper.new_topic_id()
    partitions = {index: Assignment(tuple(ids)) for index, ids in replicas.items()}
    path = paths.topic(name)
    await keeper.write(paths.topic_config(name), write_config(overrides))
    try:
        await keeper.client.create(path, write_topic(topic_id, partitions), acl=keeper.acl(path))
    except NodeExists:
        return ErrorCode.TOPIC_ALREADY_EXISTS
    return topic_id


async def delete_topic(keeper: Keeper, name: str) -> ErrorCode:
    """Ask for a topic's deletion; the controller does the rest. Raises `ZooKeeperError`."""
    path = paths.topic_to_delete(name)
    with suppress(NodeExists):  # Asked for already is as good.
        await keeper.client.create(path, None, acl=keeper.acl(path))
    return ErrorCode.NONE


async def read_topic_node(keeper: Keeper, name: str) -> TopicNode | None:
    """A topic as ZooKeeper has it now."""
    found = await keeper.read(paths.topic(name))
    return None if found is None else read_topic(found[0])


async def add_partitions(keeper: Keeper, name: str, added: Replicas) -> ErrorCode:
    """Give a topic more partitions; the controller sees it. Raises `ZooKeeperError`."""
    found = await keeper.read(paths.topic(name))
    if found is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    node, version = read_topic(found[0]), found[1].version
    partitions = node.partitions | {
        index: Assignment(tuple(ids))
        for index, ids in added.items()
        if index not in node.partitions
    }
    try:
        data = write_topic(node.topic_id, partitions)
        await keeper.client.set_data(paths.topic(name), data, version)
    except NoNode:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    except BadVersion:
        return await add_partitions(keeper, name, added)
    return ErrorCode.NONE
