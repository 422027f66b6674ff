"""What ZooKeeper tells by itself: one watch on the whole tree, and reads of what it names.

A persistent recursive watch (ZooKeeper 3.6) on our root tells of everything; servers that know none
get a one-shot watch with every read. Either way a change is on the timeline one round trip after
ZooKeeper has it. After a lost connection all is read again: what was missed shows as it is seen.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from random import Random

from odradek.console.events import Event, Kind
from odradek.console.sights import BROKER, TOPIC, Node, Sights, is_of_interest
from odradek.kafka.controller import paths
from odradek.kafka.controller.znodes import BadZnode, read_topic
from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.clock import wall_clock_ms
from odradek.zookeeper.client.aio import ZooKeeperClient
from odradek.zookeeper.client.errors import (
    NoAuth,
    NoNode,
    Unimplemented,
    ZooKeeperError,
)
from odradek.zookeeper.client.states import State
from odradek.zookeeper.client.watches import Watcher, WatchEvent
from odradek.zookeeper.wire.codes import AddWatchMode, EventType

SESSION_TIMEOUT_MS = 10_000
TRY_AGAIN_S = 1.0
READS_AT_ONCE = 200
SINGLE = (paths.CONTROLLER, paths.CONTROLLER_EPOCH, paths.REASSIGN_PARTITIONS)
PARENTS = (
    paths.BROKER_IDS,
    paths.TOPICS,
    paths.DELETE_TOPICS,
    "/config/topics",
    "/config/brokers",
    "/config/users",
    "/config/clients",
    "/config/ips",
)
PathListener = Callable[[str], None]


class Watching:
    """A session that watches; `hear` is given what happened, as it happens."""

    def __init__(
        self,
        connect_string: str,
        random: Random,
        hear: Callable[[Sequence[Event]], None],
        *,
        wants_persistent: bool = True,
    ) -> None:
        self.sights = Sights()
        self.is_persistent = True
        self.trouble = "connecting"  # Why we see nothing just now; "" if we do.
        self.loaded = asyncio.Event()
        self._connect_string = connect_string
        self._random = random
        self._hear = hear
        self._wants_persistent = wants_persistent
        self._client: ZooKeeperClient | None = None
        self._news: asyncio.Queue[WatchEvent | None] = asyncio.Queue()  # None: read all again.
        self._listeners: dict[PathListener, None] = {}

    @property
    def client(self) -> ZooKeeperClient:
        """The session, for whoever wants to look at znodes."""
        if self._client is None:
            raise ZooKeeperError("no session: " + self.trouble)
        return self._client

    @property
    def watch(self) -> Watcher | None:
        """What a reader gives along with a read, so that its page lives on."""
        return None if self.is_persistent else self._notice

    def listen(self, listener: PathListener) -> None:
        """Have each path told whose znode changes, comes or goes."""
        self._listeners[listener] = None

    def unlisten(self, listener: PathListener) -> None:
        self._listeners.pop(listener, None)

    async def run(self) -> None:
        """Watch for ever, in as many sessions as it takes."""
        while True:
            try:
                async with self._new_client() as client:
                    self._client = client
                    await self._stay(client)
            except (ZooKeeperError, OSError) as error:
                self._say_trouble(f"ZooKeeper: {error}")
            finally:
                self._client = None
            await asyncio.sleep(TRY_AGAIN_S)

    def _new_client(self) -> ZooKeeperClient:
        return ZooKeeperClient(
            self._connect_string,
            random=self._random,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            can_be_read_only=True,
        )

    async def _stay(self, client: ZooKeeperClient) -> None:
        self._news = asyncio.Queue()
        client.listen(self._notice_state)
        self.is_persistent = await self._watch_all(client)
        await self._load(client)
        while True:
            news = await self._next_news()
            if None in news:
                await self._load(client)
            else:
                await self._take(client, {it.path: it.zxid for it in news if it is not None})

    async def _next_news(self) -> list[WatchEvent | None]:
        """All that is known by now, at least one."""
        news = [await self._news.get()]
        while not self._news.empty():
            news.append(self._news.get_nowait())
        if any(it is not None and it.type is EventType.NONE for it in news):
            raise ZooKeeperError("the session has ended")
        return news

    async def _watch_all(self, client: ZooKeeperClient) -> bool:
        if not self._wants_persistent:
            return False
        try:
            await client.add_watch("/", self._notice, AddWatchMode.PERSISTENT_RECURSIVE)
        except Unimplemented:
            return False
        return True

    def _notice(self, event: WatchEvent) -> None:
        if event.type is EventType.NONE:
            self._news.put_nowait(event)
            return
        if is_of_interest(event.path) or event.path in PARENTS:
            self._news.put_nowait(event)
        for listener in list(self._listeners):
            listener(event.path)

    def _notice_state(self, state: State) -> None:
        if state is State.SUSPENDED:
            self._say_trouble("ZooKeeper: the connection is lost")
        elif state.is_connected and self.trouble and self.loaded.is_set():
            self._news.put_nowait(None)

    def _say_trouble(self, text: str) -> None:
        if not self.trouble:
            self._hear(
                [Event(wall_clock_ms(), Kind.CONNECTION, f"the console sees nothing: {text}")]
            )
        self.trouble = text
        self.sights.version += 1

    async def _load(self, client: ZooKeeperClient) -> None:
        """Read all that is of interest; what was known and is no more is seen as gone."""
        found: list[str] = list(SINGLE)
        for parent in PARENTS:
            found += await self._children(client, parent)
        known = [paths.broker(it) for it in self.sights.brokers]
        known += [paths.topic(it) for it in self.sights.topics]
        await self._take(client, dict.fromkeys([*found, *known], 0), with_states=True)
        doing = "sees again" if self.loaded.is_set() else "begins to look"
        if self.trouble:
            text = f"the console {doing}: {self.sights.summary()}"
            self._hear([Event(wall_clock_ms(), Kind.CONNECTION, text)])
        self.trouble = ""
        self.sights.is_quiet = False
        self.sights.version += 1
        self.loaded.set()

    async def _children(self, client: ZooKeeperClient, parent: str) -> list[str]:
        with suppress(NoNode, NoAuth):
            return [f"{parent}/{it}" for it in await client.get_children(parent, self.watch)]
        return []

    async def _take(
        self, client: ZooKeeperClient, changed: dict[str, int], *, with_states: bool = False
    ) -> None:
        """Read these, see them in the order in which they were written, and tell."""
        for parent in [it for it in changed if it in PARENTS]:
            changed |= dict.fromkeys(await self._children(client, parent), 0)
        nodes = await self._read_all(client, [it for it in changed if it not in PARENTS])
        states = self._states_of(nodes, is_wanted=with_states or not self.is_persistent)
        nodes |= await self._read_all(client, [it for it in states if it not in nodes])
        ordered = sorted(nodes.items(), key=partial(order_of, changed))
        times = times_of(ordered, changed, wall_clock_ms())
        events: list[Event] = []
        for path, node in ordered:
            events += self.sights.see(path, node, times[path], changed.get(path, 0))
        if events:
            self._hear(events)

    def _states_of(self, nodes: dict[str, Node | None], *, is_wanted: bool) -> list[str]:
        """Where the partitions' states are of the topics that were read."""
        found = []
        for path, node in nodes.items():
            match = TOPIC.fullmatch(path)
            if match and node is not None and is_wanted:
                with suppress(BadZnode):
                    numbers = read_topic(node.data).partitions
                    found += [paths.state(TopicPartition(match[1], it)) for it in numbers]
        return found

    async def _read_all(
        self, client: ZooKeeperClient, wanted: Sequence[str]
    ) -> dict[str, Node | None]:
        found: dict[str, Node | None] = {}
        for start in range(0, len(wanted), READS_AT_ONCE):
            some = wanted[start : start + READS_AT_ONCE]
            answers = await asyncio.gather(*[self._read(client, it) for it in some])
            pairs = zip(some, answers, strict=True)
            found |= {path: answer for path, answer in pairs if answer is not HIDDEN}
        return found

    async def _read(self, client: ZooKeeperClient, path: str) -> Node | None:
        try:
            data, stat = await client.get_data(path, self.watch)
        except NoAuth:
            return HIDDEN
        except NoNode:
            if self.watch is None or await client.exists(path, self.watch) is None:
                return None
            return await self._read(client, path)  # It came in between.
        return Node(data, stat.mtime, stat.mzxid, stat.version, stat.ephemeral_owner, stat.czxid)


HIDDEN = Node(b"", 0, 0)  # There is a znode, and we may not read it.


def order_of(changed: dict[str, int], seen: tuple[str, Node | None]) -> tuple[int, int]:
    """By zxid; of one transaction, brokers first: what they were goes with them."""
    path, node = seen
    zxid = node.zxid if node is not None else changed.get(path, 0)
    return zxid, 0 if BROKER.fullmatch(path) else 1


def times_of(
    ordered: Sequence[tuple[str, Node | None]], changed: dict[str, int], now_ms: int
) -> dict[str, int]:
    """When each was seen, by us; but what went did so before what was written after it."""
    times, latest = {}, now_ms
    for path, node in reversed(ordered):
        if node is not None and changed.get(path, 0) > 0:
            latest = min(latest, node.time_ms)
        times[path] = latest
    return times
