"""The watch on a cluster's znodes: a session, a watch on all brokers, one on each topic in use.

Watches are persistent and recursive (ZooKeeper 3.6), so nothing has to be set again after an
event, and an event is answered by one read of what it names. What happened while there was no
connection is not told: all is read again when it is back. An older server cannot set such watches:
there brokers are only read, at the beginning of each session.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from logging import getLogger
from random import Random

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.news import News
from odradek.kafka.client.registered import Entry, usable_brokers
from odradek.kafka.client.zookeeper_servers import ZooKeeperServers
from odradek.kafka.controller import paths
from odradek.kafka.controller.znodes import BadZnode, read_state, read_topic
from odradek.kafka.storage.names import TopicPartition as Place
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import NoNode, Unimplemented, ZooKeeperError
from odradek.zookeeper.client.states import State
from odradek.zookeeper.client.watches import WatchEvent
from odradek.zookeeper.wire.codes import AddWatchMode, EventType

SESSION_TIMEOUT_MS = 10_000
TRY_AGAIN_S = 1.0
EVERYTHING, THE_END = "/", ""
_TOPIC = re.compile(rf"{paths.TOPICS}/([^/]+)")
_STATE = re.compile(rf"{paths.TOPICS}/([^/]+)/partitions/(\d+)/state")
LOG = getLogger(__name__)


class ClusterWatch:
    """Tells `news` of brokers, and of the leaders of the topics that are followed."""

    def __init__(self, servers: ZooKeeperServers, random: Random, news: News) -> None:
        self._servers = servers
        self._random = random
        self._news = news
        self._topics: dict[str, None] = {}
        self._watched: set[str] = set()  # In this session.
        self._problems: list[str] = []
        self._to_read: asyncio.Queue[str] = asyncio.Queue()

    def follow(self, topic: str) -> None:
        """Watch a topic from now on."""
        if topic not in self._topics:
            self._topics[topic] = None
            self._to_read.put_nowait(paths.topic(topic))

    async def run(self) -> None:
        """Watch for ever, in as many sessions as it takes."""
        while True:
            try:
                async with self._new_client() as client:
                    await self._stay(client)
            except (ZooKeeperError, OSError) as error:
                self._news.see_trouble(str(error) or type(error).__name__)
            await asyncio.sleep(TRY_AGAIN_S)

    def _new_client(self) -> ZooKeeperClient:
        return ZooKeeperClient(
            self._servers.connect_string,
            random=self._random,
            session_timeout_ms=SESSION_TIMEOUT_MS,
        )

    async def _stay(self, client: ZooKeeperClient) -> None:
        self._to_read = asyncio.Queue()
        self._watched = set()
        client.listen(self._notice_state)
        await client.sync()  # The server may be behind the one that we had before.
        await self._watch(client, paths.BROKER_IDS)
        await self._read_everything(client)
        while True:
            for path in await self._next_paths():
                await self._read(client, path)

    def _notice(self, event: WatchEvent) -> None:
        self._to_read.put_nowait(THE_END if event.type is EventType.NONE else event.path)

    def _notice_state(self, state: State) -> None:
        if state is State.SUSPENDED:
            self._news.see_trouble("the connection is lost")
        elif state.is_connected:
            self._to_read.put_nowait(EVERYTHING)

    async def _next_paths(self) -> Iterable[str]:
        """All that is to be read by now, each once; at least one."""
        found = {await self._to_read.get(): None}
        while not self._to_read.empty():
            found[self._to_read.get_nowait()] = None
        if THE_END in found:
            raise ZooKeeperError("the session has ended")
        return [EVERYTHING] if EVERYTHING in found else found

    async def _watch(self, client: ZooKeeperClient, path: str) -> None:
        if path not in self._watched:
            self._watched.add(path)
            with suppress(Unimplemented):
                await client.add_watch(path, self._notice, AddWatchMode.PERSISTENT_RECURSIVE)

    async def _read_everything(self, client: ZooKeeperClient) -> None:
        await self._read_brokers(client)
        for topic in list(self._topics):
            await self._read_topic(client, topic)

    async def _read(self, client: ZooKeeperClient, path: str) -> None:
        if path == EVERYTHING:
            await self._read_everything(client)
        elif paths.is_below(path, paths.BROKER_IDS):
            await self._read_brokers(client)
        elif match := _TOPIC.fullmatch(path):
            await self._read_topic(client, match[1])
        elif match := _STATE.fullmatch(path):
            await self._read_states(client, [TopicPartition(match[1], int(match[2]))])

    async def _read_brokers(self, client: ZooKeeperClient) -> None:
        try:
            names = await client.get_children(paths.BROKER_IDS)
        except NoNode:
            where = client.chroot or "the root"
            self._news.see_trouble(f"no broker has ever registered below {where}")
            return
        read = await asyncio.gather(*[self._entry(client, name) for name in names])
        entries = zip(names, read, strict=True)
        found = usable_brokers(
            {name: entry for name, entry in entries if entry is not None}, self._servers.listener
        )
        self._say(found.problems)
        if not found.brokers:
            self._news.see_trouble("; ".join(found.problems) or "no broker is registered just now")
        self._news.see_brokers(found.brokers)

    async def _entry(self, client: ZooKeeperClient, name: str) -> Entry | None:
        with suppress(NoNode):  # It left between the two reads, which we are told.
            data, stat = await client.get_data(f"{paths.BROKER_IDS}/{name}")
            # A broker makes its znode and fills it in one transaction.
            return Entry(data, stat.czxid)
        return None

    def _say(self, problems: list[str]) -> None:
        for problem in problems:
            if problem not in self._problems:
                LOG.warning("a broker is left out: %s", problem)
        self._problems = problems

    async def _read_topic(self, client: ZooKeeperClient, topic: str) -> None:
        await self._watch(client, paths.topic(topic))
        self._news.see_topic(topic)
        with suppress(NoNode, BadZnode):
            data, _ = await client.get_data(paths.topic(topic))
            partitions = read_topic(data).partitions
            await self._read_states(client, [TopicPartition(topic, it) for it in partitions])

    async def _read_states(
        self, client: ZooKeeperClient, partitions: Iterable[TopicPartition]
    ) -> None:
        wanted = list(partitions)
        epochs = await asyncio.gather(*[self._leader_epoch(client, it) for it in wanted])
        self._news.see_leaders(dict(zip(wanted, epochs, strict=True)))

    async def _leader_epoch(self, client: ZooKeeperClient, partition: TopicPartition) -> int | None:
        with suppress(NoNode, BadZnode):
            data, stat = await client.get_data(paths.state(Place(*partition)))
            return read_state(data, stat.version).leader_epoch
        return None
