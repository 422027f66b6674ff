"""What the console knows, for all browsers together: asked for once, shown to each.

Znodes tell of themselves (`watching`); groups, ensemble and figures are asked for every `LOOK_S`
seconds, and less often where an answer takes long, so that looking never is a load.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from odradek.console import keeping, surveying
from odradek.console.actions import Actions
from odradek.console.events import Event
from odradek.console.figures import Figures, Rates, rates_between, read_figures
from odradek.console.following import Follows
from odradek.console.gatherings import (
    Group,
    Server,
    ensemble_changes,
    group_changes,
    leader_of,
    writes_between,
)
from odradek.console.kafka_side import KafkaSide
from odradek.console.pipelines import Pipeline, Reports
from odradek.console.sessions import Sessions, read_sessions
from odradek.console.timeline import Timeline
from odradek.console.watching import Watching
from odradek.console.words import page_at, server_at, sessions_at
from odradek.pipelines.standing import TOPIC as REPORTS
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.errors import OdradekError
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks
from odradek.zookeeper.client.connect_string import parse_connect_string

LOOK_S = 2.0
REST = 4  # A look that took a second is followed by so many of rest.
HISTORY = 180
KEEP_S = 0.5
NO_RATES = Rates()


@dataclass(frozen=True, slots=True)
class Options:
    """Which cluster, and what may be done to it."""

    bootstrap: str
    zookeeper: str
    metrics: tuple[str, ...] = ()  # Where brokers tell their figures.
    is_changing: bool = False
    has_login: bool = False  # Whoever came in may want to leave.


@dataclass(slots=True)
class Throughput:
    """The figures of one broker, and how they moved."""

    last: Figures | None = None
    rates: Rates = NO_RATES
    history: deque[Rates] = field(default_factory=lambda: deque(maxlen=HISTORY))


class Observer:
    """One cluster under observation."""

    def __init__(self, options: Options, random: Random) -> None:
        self.options = options
        self.kafka = KafkaSide(options.bootstrap)
        self.actions = Actions(self.kafka, is_allowed=options.is_changing)
        self.timeline = Timeline()
        self.watching = Watching(options.zookeeper, random, self.hear)
        self.ensemble = parse_connect_string(options.zookeeper).addresses
        self.groups: dict[str, Group] = {}
        self.lags: dict[str, deque[int]] = {}
        self.servers: list[Server] = []
        self.writes_per_s: deque[float] = deque(maxlen=HISTORY)
        self._servers_seen_at = 0.0
        self.pipelines: dict[str, Pipeline] = {}
        self._reports = Reports()
        self.pipeline_lags: dict[str, deque[int]] = {}
        self._sessions = Sessions()
        self._asking_sessions = asyncio.Lock()
        self._sessions_until = 0.0  # When what is known of them is old.
        self.throughput: dict[str, Throughput] = {it: Throughput() for it in options.metrics}
        self.trouble = ""  # Why brokers tell nothing; "" if they do.
        self.looks = 0  # Grows with each look: pages look at it.
        self.unkept: list[Event] = []  # On the timeline, and not in its topic yet.
        self._has_seen_groups = False
        self.follows = Follows(self.kafka)
        self._tasks = Tasks(NodeLog("console"))
        self._ending: asyncio.Task[None] | None = None

    def start(self, give_up: Callable[[], None] = lambda: None) -> None:
        """Begin to look, on the running loop; `give_up` is called if that comes to an end."""
        self._tasks.start("watching", self.watching.run())
        self._tasks.start("looking", self._look_for_ever())
        self._tasks.start("keeping", self._keep_timeline(), may_end=True)
        self._ending = asyncio.get_running_loop().create_task(self._tasks.until_stopped())
        self._ending.add_done_callback(lambda _: give_up())

    async def stop(self) -> None:
        """End all that runs; what it died of, if it did, is raised."""
        self.follows.close()
        self._tasks.stop()
        try:
            if self._ending is not None:
                await self._ending
        finally:
            self.kafka.close()

    def hear(self, events: Sequence[Event]) -> None:
        """Put what happened on the timeline."""
        fresh = self.timeline.add(events)
        if self.options.is_changing:
            self.unkept += fresh

    async def _look_for_ever(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            await asyncio.gather(
                self._look_at_groups(),
                self._look_at_ensemble(),
                self._look_at_figures(),
                self._look_at_pipelines(),
            )
            self.looks += 1
            await asyncio.sleep(max(LOOK_S, REST * (clock() - began)))

    async def _look_at_groups(self) -> None:
        try:
            groups = await self.kafka.ask(surveying.all_groups, self.groups)
            lags = await self.kafka.ask(surveying.lags_of, list(groups))
        except (OdradekError, OSError) as error:
            self.trouble = f"Kafka: {error}"
            return
        self.trouble = ""
        if self._has_seen_groups:
            self.hear(group_changes(self.groups, groups, wall_clock_ms()))
        self.groups, self._has_seen_groups = groups, True
        self.lags = {it: self.lags.get(it, deque(maxlen=HISTORY)) for it in groups}
        for name, lag in lags.items():
            self.lags[name].append(lag)

    async def _look_at_pipelines(self) -> None:
        if REPORTS not in self.watching.sights.topics:
            return
        try:
            self.pipelines = await self.kafka.ask(
                self._reports.read, {*self.watching.sights.topics}
            )
        except (OdradekError, OSError):
            return  # The look at groups tells of the trouble.
        for name, it in self.pipelines.items():
            if it.lag is not None:
                self.pipeline_lags.setdefault(name, deque(maxlen=HISTORY)).append(it.lag)

    async def ask_sessions(self) -> Sessions:
        """Sessions with what they watch and own; asked for again only after a while."""
        clock = asyncio.get_running_loop().time
        async with self._asking_sessions:
            if clock() >= self._sessions_until:
                said = await asyncio.gather(*[sessions_at(it) for it in self.ensemble])
                self._sessions, self._sessions_until = read_sessions(said), clock() + LOOK_S
            return self._sessions

    async def _look_at_ensemble(self) -> None:
        servers = await asyncio.gather(*[server_at(it) for it in self.ensemble])
        self.hear(ensemble_changes(self.servers, servers, wall_clock_ms()))
        now = asyncio.get_running_loop().time()
        count = writes_between(leader_of(self.servers), leader_of(servers))
        self.writes_per_s.append(count / max(now - self._servers_seen_at, LOOK_S))
        self.servers, self._servers_seen_at = list(servers), now

    async def _look_at_figures(self) -> None:
        for url, known in self.throughput.items():
            text = await page_at(url)
            if not text:
                known.last, known.rates = None, Rates()
                continue
            figures = read_figures(text, asyncio.get_running_loop().time())
            if known.last is not None:
                known.rates = rates_between(known.last, figures)
            known.last = figures
            known.history.append(known.rates)

    async def _keep_timeline(self) -> None:
        """Fill the timeline with what was kept; from then on keep what comes."""
        await self._insist(self._load_timeline)
        while self.options.is_changing:
            await asyncio.sleep(KEEP_S)
            if self.unkept:
                await self._insist(self._write_timeline)

    async def _load_timeline(self) -> None:
        if self.options.is_changing:
            await self.kafka.ask(keeping.ensure_topic)
        kept = await self.kafka.ask(keeping.load)
        self.timeline.add_before(kept)

    async def _write_timeline(self) -> None:
        events = self.unkept[:]
        await self.kafka.ask(keeping.keep, self.kafka.properties, events)
        del self.unkept[: len(events)]

    async def _insist(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it again until it is done: a cluster that elects leaders takes no records."""
        while True:
            try:
                return await work()
            except (OdradekError, OSError) as error:
                self.trouble = f"the timeline's topic: {error}"
            await asyncio.sleep(LOOK_S)
