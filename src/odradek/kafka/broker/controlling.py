"""Who controls the cluster: elected through ZooKeeper, fenced by an epoch, one event at a time.

Every broker stands for election whenever `/controller` is gone. The winner raises the epoch in the
same transaction that makes the node, so no two ever share one. It resigns when its session is lost,
when the node names another, or when a write shows that the epoch has moved on; then it looks who
is elected now. The others remove the node of one whose process is gone before its session is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from odradek.kafka.broker.configs import Configs
from odradek.kafka.broker.election import NOBODY, Election
from odradek.kafka.broker.fenced import ControllerMoved
from odradek.kafka.broker.keeper import Keeper
from odradek.kafka.broker.links import Links
from odradek.kafka.broker.office import Office, ReignOver
from odradek.kafka.broker.reign import Reign, Work
from odradek.kafka.broker.vigil import Vigils
from odradek.kafka.controller import paths
from odradek.kafka.controller.image import Image
from odradek.kafka.controller.znodes import BadZnode
from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.client.errors import ClientClosed, SessionExpired, ZooKeeperError
from odradek.zookeeper.client.watches import WatchEvent

FIRST_BALANCE_S = 5.0
REST_S = 1.0  # Before another try, when something is wrong that may last.

Result = TypeVar("Result")


@dataclass(slots=True)
class Event:
    """Something to be done by the controller; under one name it waits only once."""

    name: str
    work: Work


class ControllerShell:
    """This broker's part in controlling the cluster."""

    def __init__(
        self,
        broker_id: int,
        keeper: Keeper,
        configs: Configs,
        links: Links,
        tasks: Tasks,
        note: NodeLog,
    ) -> None:
        self.reign: Reign | None = None
        self.elected_id = NOBODY  # Who is the controller, as far as we have seen.
        self.unclean_count = 0  # How many leaders were elected that were not in sync.
        self._id = broker_id
        self._keeper = keeper
        self._configs = configs
        self._links = links
        self._vigils = Vigils(tasks)
        self._election = Election(broker_id, keeper)
        self._tasks = tasks
        self._note = note.about("controller")
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._waiting: set[str] = set()
        self._balance: asyncio.TimerHandle | None = None

    @property
    def is_active(self) -> bool:
        return self.reign is not None

    @property
    def epoch(self) -> int:
        """Our own, while we are the controller; else -1."""
        return NOBODY if self.reign is None else self.reign.image.epoch

    def start(self) -> None:
        """Stand for election, from now on and after every lost session."""
        self._keeper.lost.append(self._lost)
        self._keeper.renewed.append(self._renewed)
        self._configs.changed.append(self._config_changed)
        self._tasks.start("controller", self._run())
        self.enqueue("election", self._follow)

    def enqueue(self, name: str, work: Work) -> None:
        """Put an event in line, unless one of this name waits there."""
        if name not in self._waiting:
            self._waiting.add(name)
            self._events.put_nowait(Event(name, work))

    def submit(
        self, name: str, work: Callable[[Reign], Awaitable[Result]], refusal: Result
    ) -> asyncio.Future[Result]:
        """Have the controller do something; the refusal if we are none when its turn comes."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._events.put_nowait(Event(name, lambda: self._answer(work, refusal, future)))
        return future

    async def _answer(
        self,
        work: Callable[[Reign], Awaitable[Result]],
        refusal: Result,
        future: asyncio.Future[Result],
    ) -> None:
        result = refusal
        try:
            if self.reign is not None:
                result = await work(self.reign)
        finally:
            if not future.done():
                future.set_result(result)

    # Events, one at a time

    async def _run(self) -> None:
        try:
            while True:
                event = await self._events.get()
                self._waiting.discard(event.name)
                await self._handle(event)
        finally:
            self._resign()

    async def _handle(self, event: Event) -> None:
        try:
            await event.work()
        except (ControllerMoved, ReignOver) as moved:
            self._note.warning("resigns during %s: %s", event.name, moved)
            self._resign()
            self.enqueue("election", self._follow)
        except (SessionExpired, ClientClosed):
            self._resign()  # With the next session, if there is one, `_renewed` goes on.
        except (ZooKeeperError, BadZnode) as error:
            # We know too little to go on: let somebody else try, or ourselves, from the start.
            self._note.error("gives way: %s failed: %s", event.name, error)
            self._resign()
            await asyncio.sleep(REST_S)
            self.enqueue("election", self._follow)

    def _lost(self) -> None:
        self.elected_id = NOBODY
        self._vigils.close_all()
        self._resign()

    async def _renewed(self) -> None:
        self.enqueue("election", self._follow)

    # Elections

    async def _follow(self) -> None:
        """See who is the controller; if nobody is, stand for election."""
        elected, owner = await self._election.controller(self._stir)
        if self.is_active and elected != self._id:
            self._note.info("resigns: the controller is %s", elected)
            self._resign()
        self.elected_id = elected
        if elected == NOBODY:
            await self._stand()
        elif owner == self._keeper.client.session_id and not self.is_active:
            await self._keeper.forget(paths.CONTROLLER)  # What is left of a reign that is over.
        elif elected != self._id:
            await self._keep_vigil(elected, owner)

    async def _keep_vigil(self, elected: int, owner: int) -> None:
        """Learn at once when the controller's process is gone: its session may last for long."""
        listener = self._configs.layers.broker.control_listener_name
        endpoint = await self._election.endpoint(elected, listener)
        self._vigils.close_all()
        if endpoint is not None:
            self._vigils.open(elected, endpoint, partial(self._sighted, elected, owner))

    def _sighted(self, elected: int, owner: int, is_there: bool) -> None:
        if not is_there:
            self._note.info("%s is the controller, but not there any more", elected)
            self.enqueue("absence", lambda: self._election.depose(owner))

    async def _stand(self) -> None:
        self._vigils.close_all()
        won = await self._election.compete()
        if won is None:
            self.enqueue("election", self._follow)
            return
        self._note.info("is elected with epoch %s", won.epoch)
        self.elected_id = self._id
        image = Image(self._id, won.epoch, won.version)
        means = self._links, self._vigils
        office = Office(image, self._keeper, self._configs, *means, self._note)
        office.elected_uncleanly = self._count_unclean
        self.reign = Reign(office, self.enqueue)
        await self.reign.begin()
        self._balance_in(FIRST_BALANCE_S)

    def _count_unclean(self, where: TopicPartition) -> None:
        self.unclean_count += 1

    def _stir(self, event: WatchEvent) -> None:
        self.enqueue("election", self._follow)

    def _resign(self) -> None:
        if self.reign is not None:
            self._note.info("is not the controller any more")
            self.reign.office.end()
            self.reign = None
        if self._balance is not None:
            self._balance.cancel()
            self._balance = None

    # Leaders for those who would rather lose records than wait

    def _config_changed(self, entity_path: str) -> None:
        kind, _, name = entity_path.partition("/")
        topic = name if kind == "topics" else None
        if self.reign is None or kind not in ("topics", "brokers"):
            return
        settings = self._configs.layers.topics
        if topic is not None:
            settings = self._configs.topic_settings(topic)
        if settings.unclean_leader_election_enable:
            self.enqueue(f"unclean leaders of {entity_path}", lambda: self._bring_online(topic))

    async def _bring_online(self, topic: str | None) -> None:
        """Elect leaders where there are none: of one topic, or of all."""
        if self.reign is not None:
            image = self.reign.image
            wanted = image.all_partitions() if topic is None else image.partitions(topic)
            await self.reign.office.bring_online(list(wanted))

    # The balance of leaderships

    def _balance_in(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._balance = loop.call_later(seconds, self.enqueue, "balance", self._rebalance)

    async def _rebalance(self) -> None:
        if self.reign is None:
            return
        settings = self.reign.office.settings
        self._balance_in(settings.leader_imbalance_check_interval_seconds)
        if settings.auto_leader_rebalance_enable:
            await self.reign.moving.balance()
