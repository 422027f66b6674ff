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
from odradek.console.gatherings import Group, Server, ensemble_changes, group_changes
from odradek.console.kafka_side import KafkaSide
from odradek.console.timeline import Timeline
from odradek.console.watching import Watching
from odradek.console.words import page_at, server_at
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.errors import OdradekError
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
        self.throughput: dict[str, Throughput] = {it: Throughput() for it in options.metrics}
        self.trouble = ""  # Why brokers tell nothing; "" if they do.
        self.looks = 0  # Grows with each look: pages look at it.
        self._unkept: list[Event] = []
        self._has_seen_groups = False
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to look, on the running loop."""
        for work in (self.watching.run, self._keep_timeline, self._look_for_ever):
            self._tasks.append(asyncio.get_running_loop().create_task(work()))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.kafka.close()

    def hear(self, events: Sequence[Event]) -> None:
        """Put what happened on the timeline."""
        fresh = self.timeline.add(events)
        if self.options.is_changing:
            self._unkept += fresh

    async def _look_for_ever(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            began = clock()
            await asyncio.gather(
                self._look_at_groups(), self._look_at_ensemble(), self._look_at_figures()
            )
            self.looks += 1
            await asyncio.sleep(max(LOOK_S, REST * (clock() - began)))

    async def _look_at_groups(self) -> None:
        try:
            groups = await self.kafka.ask(surveying.all_groups)
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

    async def _look_at_ensemble(self) -> None:
        servers = await asyncio.gather(*[server_at(it) for it in self.ensemble])
        self.hear(ensemble_changes(self.servers, servers, wall_clock_ms()))
        self.servers = list(servers)

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
            if self._unkept:
                await self._insist(self._write_timeline)

    async def _load_timeline(self) -> None:
        if self.options.is_changing:
            await self.kafka.ask(keeping.ensure_topic)
        kept = await self.kafka.ask(keeping.load)
        self.timeline.add_before(kept)

    async def _write_timeline(self) -> None:
        events = self._unkept[:]
        await self.kafka.ask(keeping.keep, self.kafka.properties, events)
        del self._unkept[: len(events)]

    async def _insist(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do it again until it is done: a cluster that elects leaders takes no records."""
        while True:
            try:
                return await work()
            except (OdradekError, OSError) as error:
                self.trouble = f"the timeline's topic: {error}"
            await asyncio.sleep(LOOK_S)
