"""Spark's queries, as they told last (`odradek.pipelines.report_progress`), and how far behind.

All functions that ask a cluster block: they are for the threads of `kafka_side`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from odradek.console.reading import read_from
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition, UnknownTopic
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.pipelines.standing import TOPIC, Standing, standing_from_json

READ_MAX = 2000
SILENT_MS = 60_000  # Spark tells even of an idle query every ten seconds.


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A query, and where the partitions that it reads end now."""

    standing: Standing
    ends: Mapping[TopicPartition, int] = field(default_factory=dict)

    def lag_of(self, where: TopicPartition) -> int | None:
        end = self.ends.get(where)
        return None if end is None else max(0, end - self.standing.positions()[where])

    @property
    def lag(self) -> int | None:
        """How many records it has not read yet; None: nobody knows."""
        lags = [self.lag_of(it) for it in self.standing.positions()]
        known = [it for it in lags if it is not None]
        return sum(known) if known else self.standing.left

    def state(self, now_ms: int) -> str:
        if self.standing.is_running:
            return "silent" if now_ms - self.standing.time_ms > SILENT_MS else "running"
        return "failed" if self.standing.trouble else "ended"


def standings_in(values: Iterable[bytes | None]) -> Iterator[Standing]:
    """What queries said; what is nothing of ours is passed over."""
    for value in values:
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            yield standing_from_json(json.loads(value or b""))


class Reports:
    """The topic of reports, read on and on: each look reads only what is new."""

    def __init__(self) -> None:
        self._position = -READ_MAX
        self.standings: dict[str, Standing] = {}  # Whoever told last stands last.

    def read(self, cluster: Cluster, topics: Collection[str] | None = None) -> dict[str, Pipeline]:
        """All queries; nobody if there is no such topic. `topics`: all that there are."""
        there = cluster.topics() if topics is None else topics
        if TOPIC not in there:
            return {}
        read = read_from(cluster, TopicPartition(TOPIC, 0), self._position, READ_MAX)
        self._position = read.next_offset
        self.take(it.value for it in read.records)
        wanted = {where for it in self.standings.values() for where in it.positions()}
        ends = ends_of(cluster, [it for it in wanted if it.topic in there])
        return {
            name: Pipeline(it, {where: ends[where] for where in it.positions() if where in ends})
            for name, it in self.standings.items()
        }

    def take(self, values: Iterable[bytes | None]) -> None:
        for it in standings_in(values):
            self.standings.pop(it.query, None)
            self.standings[it.query] = it


def ends_of(cluster: Cluster, wanted: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
    """Where partitions end, as far as they are there."""
    led = []
    for it in wanted:
        with suppress(UnknownTopic):
            led += [it] if cluster.leader_of(it) else []
    found = list_offsets(cluster, dict.fromkeys(led, LATEST)) if led else {}
    return {where: end for where, end in found.items() if end is not None}
