"""`mirror`: topics of one cluster into another, exactly once.

Keys, values, headers, times and partition numbers stay as they are; offsets cannot, so they are
translated. All state is on the target, in the topic of syncs: there is no checkpoint to lose, and a
mirror that is started anywhere, any time, goes on where it stood.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import BrokerRefused, TopicPartition
from odradek.kafka.client.group_offsets import commit_offsets, committed_offsets
from odradek.kafka.client.producer_settings import producer_settings
from odradek.kafka.client.settings import READ_COMMITTED, client_settings
from odradek.pipelines.clusters import (
    Servers,
    chosen_topics,
    cluster_id,
    ends_of,
    ensure_like,
    group_ids,
    properties_of,
    topic_configs,
)
from odradek.pipelines.lanes import Lane, Syncs, translate
from odradek.pipelines.mirror_task import RESULT, Stretch, task
from odradek.pipelines.progress import Listener, Progress, nobody
from odradek.pipelines.session import session
from odradek.pipelines.sync_log import SyncLog
from odradek.runtime.errors import OdradekError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL_GROUPS = "*"
IDLE_S = 1.0
TRANSACTION_TIMEOUT_MS = 900_000


class MirrorRefused(OdradekError):
    """A mirror that cannot be, or that would lose something."""


@dataclass(slots=True)
class Mirrored:
    """What a mirror has done."""

    records: int = 0
    bytes: int = 0
    seconds: float = 0.0
    positions: dict[str, int] = field(default_factory=dict)  # Of the source, by partition.
    groups: dict[str, dict[str, int]] = field(default_factory=dict)  # Committed on the target.
    groups_refused: dict[str, str] = field(default_factory=dict)


def mirror(
    source: Servers,
    target: Servers,
    topics: Sequence[str],
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    name: str | None = None,
    prefix: str = "",
    groups: Sequence[str] = (),
    follow: bool = False,
    fail_on_data_loss: bool = True,
    records_per_round: int = 1_000_000,
    records_per_transaction: int = 100_000,
    progress: Listener = nobody,
    stop: threading.Event | None = None,
) -> Mirrored:
    """Copy what is in `topics` now, or go on copying, until `stop`.

    source, target    bootstrap servers, or properties of Kafka's clients
    topics            names; one with * stands for all that match
    name              who this mirror is; two of one name share their progress, and never write
                      the same. By default it is made from the id of the source's cluster
    prefix            put before the names of topics on the target
    groups            consumer groups whose offsets are translated and committed on the target at
                      the end ("*": all that have some for these topics)
    fail_on_data_loss whether records that were deleted before they were copied are an error
    records_per_round how much of a partition is copied before progress is told
    """
    work = Mirror(source, target, topics, name, prefix, fail_on_data_loss, records_per_transaction)
    started, done = monotonic(), Mirrored()
    stop = stop or threading.Event()
    with session(spark, master) as here:
        while not stop.is_set():
            stretches, left = work.plan(records_per_round)
            if stretches:
                work.run(here, stretches, done)
                pace = done.records / max(0.001, monotonic() - started)
                copied_now = sum(one.end - one.first for one in stretches)
                progress(Progress("mirror", done.records, max(0, left - copied_now), pace))
            elif not follow:
                break
            else:
                stop.wait(IDLE_S)
    done.seconds = monotonic() - started
    if groups:
        work.translate_groups(groups, done)
    return done


class Mirror:
    """The driver's side: what there is to copy, and what has been."""

    def __init__(
        self,
        source: Servers,
        target: Servers,
        topics: Sequence[str],
        name: str | None,
        prefix: str,
        fail_on_data_loss: bool,
        per_transaction: int,
    ) -> None:
        read = client_settings(properties_of(source))
        self._source = replace(read, isolation_level=READ_COMMITTED)
        given = {"transaction.timeout.ms": str(TRANSACTION_TIMEOUT_MS), **properties_of(target)}
        self._target = producer_settings(given)
        self._topics = topics
        self._prefix = prefix
        self._fails = fail_on_data_loss
        self._per_transaction = per_transaction
        self._log = SyncLog(self._target.client)
        self._name = self._named(name)

    def plan(self, records_max: int) -> tuple[list[Stretch], int]:
        """What to copy next, and how many offsets there are to copy in all."""
        lanes = self._lanes()
        ends = ends_of(self.source, [lane.source for lane in lanes])
        _, places = self._log.read(lanes)
        stretches, left = [], 0
        for lane in lanes:
            start, end = ends[lane.source]
            known = places[lane]
            first = start if known.position < 0 else known.position
            if first < start:
                first = self._lost(lane.source, first, start)
                known = replace(known, position=first)
            if first < end:
                left += end - first
                stretches.append(Stretch(lane, known, first, min(end, first + records_max)))
        return stretches, left

    def run(self, spark: SparkSession, stretches: Sequence[Stretch], done: Mirrored) -> None:
        """Copy, a task for each stretch."""
        source, target = self._source.for_task(), self._target.for_task()
        work = task(source, target, stretches, self._per_transaction)
        count = len(stretches)
        numbers = spark.range(0, count, 1, count)
        for row in numbers.mapInArrow(work, RESULT).collect():
            done.records += row.records
            done.bytes += row.bytes
            done.positions[str(stretches[row.number].lane.source)] = row.position

    def translate_groups(self, groups: Sequence[str], done: Mirrored) -> None:
        """Let groups go on at the target where they stand at the source."""
        lanes = {lane.source: lane for lane in self._lanes()}
        named = group_ids(self.source) if ALL_GROUPS in groups else list(groups)
        syncs, _ = self._log.read(lanes.values())
        for group in named:
            offsets = self._translated(group, lanes, syncs)
            if not offsets:
                continue
            try:
                commit_offsets(self.target, group, offsets)
            except BrokerRefused as error:
                done.groups_refused[group] = str(error)
            else:
                done.groups[group] = {str(where): offset for where, offset in offsets.items()}

    def _translated(
        self, group: str, lanes: Mapping[TopicPartition, Lane], syncs: Syncs
    ) -> dict[TopicPartition, int]:
        found = {}
        for where, offset in committed_offsets(self.source, group, lanes).items():
            new = translate(syncs.of(lanes[where]), offset)
            if new is not None:
                found[TopicPartition(lanes[where].target, where.partition)] = new
        return found

    @property
    def source(self) -> Cluster:
        return shared_cluster(self._source)

    @property
    def target(self) -> Cluster:
        return shared_cluster(self._target.client)

    def _lanes(self) -> list[Lane]:
        """The lanes of all partitions that there are, with a place to go to for each."""
        self._log.prepare()
        topics = chosen_topics(self.source, self._topics)
        partitions = self.source.partitions_of(topics) if topics else []
        for topic in topics:
            count = sum(where.topic == topic for where in partitions)
            target = self._prefix + topic
            ensure_like(self.target, target, count, partial(topic_configs, self.source, topic))
        return [Lane(self._name, where, self._prefix + where.topic) for where in partitions]

    def _named(self, name: str | None) -> str:
        here, there = cluster_id(self.source), cluster_id(self.target)
        if here == there and not self._prefix:
            raise MirrorRefused(
                f"source and target are one cluster ({here}): topics would be copied into"
                " themselves; give a prefix"
            )
        return name or f"mirror-{here}"

    def _lost(self, where: TopicPartition, position: int, start: int) -> int:
        if self._fails:
            raise MirrorRefused(
                f"{where}: offsets {position} to {start - 1} were deleted before they were copied;"
                " fail_on_data_loss=False goes on after them"
            )
        return start
