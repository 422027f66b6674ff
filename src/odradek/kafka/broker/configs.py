"""What is said of topics, brokers, users, clients and addresses in ZooKeeper, kept up to date.

Whoever changes a config writes the whole node of the entity and then a notification. Every broker
hears of notifications in their order and reads the node again. After 15 minutes anybody may remove
a notification; who was away longer reads everything at its return anyway. A new topic is not
notified of: its config is read when its first replica comes here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.controller import paths
from odradek.kafka.controller.config_nodes import (
    read_change,
    read_config,
    write_change,
    write_config,
)
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.settings import Layers, TopicSettings, usable
from odradek.kafka.settings.passwords import EncryptedPassword, kept
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.logs import NodeLog
from odradek.runtime.secret import Secret
from odradek.runtime.settings import SettingsRefused
from odradek.zookeeper.client.errors import ZooKeeperError
from odradek.zookeeper.client.watches import WatchEvent

NOTIFIED_MS_MAX = 15 * 60 * 1000
CLIENT_TYPES = ("users", "clients", "ips")
OF_ALL_BROKERS = f"brokers/{paths.DEFAULT_ENTITY}"

Changed = Callable[[str], object]  # Told the path of the entity below /config.


class Configs:
    """The configs of a cluster, as one broker sees them."""

    def __init__(
        self,
        keeper: Keeper,
        layers: Layers,
        note: NodeLog,
        *,
        decrypt: Callable[[EncryptedPassword], Secret] | None = None,
    ) -> None:
        self.layers = layers
        self.clients: dict[str, dict[str, str]] = {}  # Users, clients, addresses: by entity path.
        self.topics: dict[str, dict[str, str]] = {}  # Overrides, of topics that have any.
        self.changed: list[Changed] = []
        self._keeper = keeper
        self._note = note
        self._decrypt = decrypt
        self._broker_id = -1
        self._learned: set[str] = set()  # The topics that were read, whatever was said of them.
        self._settings: dict[str, TopicSettings] = {}
        self._last_number = -1
        self._created_ms: dict[str, int] = {}  # Of the notifications there are.
        self._stirred = asyncio.Event()

    def topic_settings(self, topic: str) -> TopicSettings:
        """What counts for a topic now."""
        overrides = self.topics.get(topic)
        if not overrides:
            return self.layers.topics
        found = self._settings.get(topic)
        if found is None:
            found = self._settings[topic] = self._overridden(topic, overrides)
        return found

    # Reading

    async def load_broker(self, broker_id: int) -> None:
        """Read what is said of this broker and of all, before anything depends on it."""
        self._broker_id = broker_id
        for entity_path in (OF_ALL_BROKERS, f"brokers/{broker_id}"):
            await self._read_again(entity_path)

    async def load(self) -> None:
        """Read everything, and begin to listen; after a lost session, read everything again."""
        await self._listen()
        entities = [
            entity for kind in ("topics", *CLIENT_TYPES) for entity in await self._all(kind)
        ]
        gone = [it for it in self._known() if it not in set(entities)]
        found = await self._fetch_all(entities)
        for entity_path, texts in (
            *dict.fromkeys(gone).items(),
            *zip(entities, found, strict=True),
        ):
            self._take(entity_path, texts)
        await self.load_broker(self._broker_id)

    def _known(self) -> list[str]:
        """The entities of which something is said, as far as we know."""
        return [*self.clients, *(f"topics/{topic}" for topic in self.topics)]

    async def fetch(self, entity_path: str) -> dict[str, str] | None:
        """What ZooKeeper says of an entity now; None if nothing was ever said."""
        return (await self._fetch_all([entity_path]))[0]

    def knows_topic(self, topic: str) -> bool:
        """Whether the topic's overrides were read, even if there are none."""
        return topic in self._learned

    async def learn_topics(self, topics: Iterable[str]) -> None:
        """Read the overrides of topics that may be new here."""
        names = list(dict.fromkeys(topics))
        found = await self._fetch_all([f"topics/{name}" for name in names])
        for name, texts in zip(names, found, strict=True):
            if (texts or {}) == self.topics.get(name, {}):
                self._learned.add(name)
            else:
                self._take(f"topics/{name}", texts)

    def forget_topic(self, topic: str) -> None:
        """The topic is gone; one of the same name would be another."""
        self._take(f"topics/{topic}", None)
        self._learned.discard(topic)

    # Writing

    async def write(self, entity_path: str, texts: Mapping[str, str]) -> None:
        """Have this be all that is said of an entity, and let every broker know."""
        await self._keeper.write(paths.entity(entity_path), write_config(texts))
        prefix = f"{paths.CONFIG_CHANGES}/{paths.CONFIG_CHANGE_PREFIX}"
        await self._keeper.append(prefix, write_change(entity_path))

    # Listening

    async def run(self) -> None:
        """Follow the notifications; call `load` first. After a lost session, `load` again."""
        while True:
            await self._stirred.wait()
            self._stirred.clear()
            try:
                await self._listen()
            except ZooKeeperError as error:
                self._note.warning("configs are read again with the next session: %s", error)

    def _stir(self, event: WatchEvent) -> None:
        self._stirred.set()

    async def _listen(self) -> None:
        """Handle what is new, in order, and remove what is old."""
        names = await self._keeper.children(paths.CONFIG_CHANGES, self._stir)
        for name in names:
            number = paths.sequence_number(name, paths.CONFIG_CHANGE_PREFIX)
            if number > self._last_number:
                await self._hear(name)
                self._last_number = number
        await self._purge(names)

    async def _hear(self, name: str) -> None:
        found = await self._keeper.read(f"{paths.CONFIG_CHANGES}/{name}")
        if found is None:
            return  # Somebody has removed it for its age: whoever starts reads all anyway.
        data, stat = found
        self._created_ms[name] = stat.ctime
        try:
            await self._read_again(read_change(data))
        except BadZnode as error:
            self._note.error("/config/changes/%s: %s", name, error)

    async def _purge(self, names: list[str]) -> None:
        self._created_ms = {it: self._created_ms[it] for it in names if it in self._created_ms}
        oldest_ms = wall_clock_ms() - NOTIFIED_MS_MAX
        for name, created_ms in list(self._created_ms.items()):
            if created_ms < oldest_ms:
                del self._created_ms[name]
                await self._keeper.forget(f"{paths.CONFIG_CHANGES}/{name}")

    async def _read_again(self, entity_path: str) -> None:
        self._take(entity_path, await self.fetch(entity_path))

    def _take(self, entity_path: str, texts: dict[str, str] | None) -> None:
        kind, _, name = entity_path.partition("/")
        if kind == "topics":
            self._take_topic(name, texts)
        elif kind == "brokers":
            self._take_broker(entity_path, texts or {})
        elif kind in CLIENT_TYPES:
            self.clients.pop(entity_path, None)
            if texts:
                self.clients[entity_path] = texts
        for hear in self.changed:
            hear(entity_path)

    def _take_topic(self, topic: str, texts: dict[str, str] | None) -> None:
        self._learned.add(topic)
        self._settings.pop(topic, None)
        self.topics.pop(topic, None)
        if texts:
            self.topics[topic] = texts

    def _take_broker(self, entity_path: str, texts: dict[str, str]) -> None:
        is_of_all = entity_path == OF_ALL_BROKERS
        if not is_of_all and entity_path != f"brokers/{self._broker_id}":
            return
        readable, unreadable = kept(texts, self._decrypt)
        good, reasons = usable(readable, self.layers.file, is_of_all=is_of_all)
        for reason in (*(f"{key} {why}" for key, why in unreadable.items()), *reasons):
            self._note.warning("/config/%s: %s", entity_path, reason)
        layers = self.layers
        self._put(replace(layers, of_all=good) if is_of_all else replace(layers, of_one=good))

    def _put(self, layers: Layers) -> None:
        """Use other layers, unless they cannot be used: then all stays as it is."""
        try:
            _ = layers.broker, layers.topics
        except SettingsRefused as refused:
            for problem in refused.problems:
                self._note.error("a change of the settings is not used: %s", problem)
            return
        self.layers = layers
        self._settings.clear()

    def _overridden(self, topic: str, overrides: Mapping[str, str]) -> TopicSettings:
        try:
            return self.layers.topics.overridden(overrides, topic)
        except SettingsRefused as refused:
            for problem in refused.problems:
                self._note.error("topic %s: %s", topic, problem)
            return self.layers.topics

    # Names

    async def _all(self, kind: str) -> list[str]:
        """The entities of a kind; of users, also each with its clients."""
        names = await self._keeper.children(paths.entity(kind))
        found = [f"{kind}/{name}" for name in names]
        if kind == "users":
            for name in names:
                clients = await self._keeper.children(paths.entity(f"users/{name}/clients"))
                found += [f"users/{name}/clients/{client}" for client in clients]
        return found

    async def _fetch_all(self, entities: list[str]) -> list[dict[str, str] | None]:
        found = await self._keeper.read_all([paths.entity(it) for it in entities])
        return [
            None if it is None else self._texts(entity_path, it[0])
            for entity_path, it in zip(entities, found, strict=True)
        ]

    def _texts(self, entity_path: str, data: bytes) -> dict[str, str]:
        try:
            return read_config(data)
        except BadZnode as error:
            self._note.error("/config/%s: %s", entity_path, error)
            return {}
