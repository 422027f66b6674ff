"""What a controller reads in ZooKeeper. What cannot be understood is told, and left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.controller import paths, znodes
from odradek.kafka.controller.image import LiveBroker, PartitionState
from odradek.kafka.controller.registration import read_registration
from odradek.kafka.controller.znodes import BadZnode, TopicNode
from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.logs import NodeLog
from odradek.zookeeper.client.watches import Watcher


class FoundTopic(NamedTuple):
    """A topic's node, and the version of its data."""

    node: TopicNode
    version: int


class Surveys:
    """Reads of one session."""

    def __init__(self, keeper: Keeper, note: NodeLog) -> None:
        self._keeper = keeper
        self._note = note

    async def brokers(self, of_all: Watcher, of_each: Watcher) -> dict[int, LiveBroker]:
        """All that are registered; the watchers hear when they come, go or change."""
        names = await self._keeper.children(paths.BROKER_IDS, of_all)
        ids = sorted(int(name) for name in names if name.isdecimal())
        wanted = [paths.broker(it) for it in ids]
        brokers = {}
        for broker_id, found in zip(ids, await self._keeper.read_all(wanted, of_each), strict=True):
            if found is None:
                continue
            try:
                registration = read_registration(broker_id, found[0])
            except BadZnode as error:
                self._note.error("%s: %s", paths.broker(broker_id), error)
            else:
                brokers[broker_id] = LiveBroker(registration, found[1].czxid)
        return brokers

    async def topics(self, names: Sequence[str], of_each: Watcher) -> dict[str, FoundTopic]:
        wanted = [paths.topic(name) for name in names]
        topics = {}
        for name, found in zip(names, await self._keeper.read_all(wanted, of_each), strict=True):
            if found is None:
                continue
            try:
                topics[name] = FoundTopic(znodes.read_topic(found[0]), found[1].version)
            except BadZnode as error:
                self._note.error("%s: %s", paths.topic(name), error)
        return topics

    async def states(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, PartitionState]:
        asked = list(partitions)
        states = {}
        found = await self._keeper.read_all([paths.state(it) for it in asked])
        for where, it in zip(asked, found, strict=True):
            if it is None:
                continue
            try:
                states[where] = znodes.read_state(it[0], it[1].version)
            except BadZnode as error:
                self._note.error("%s: %s", paths.state(where), error)
        return states

    async def tree(self, root: str) -> list[str]:
        """A node and all below it, the deepest first."""
        level, found = [root], [root]
        while level:
            names = await self._keeper.children_of_all(level)
            level = [
                f"{path}/{it}" for path, below in zip(level, names, strict=True) for it in below
            ]
            found += level
        return found[::-1]
