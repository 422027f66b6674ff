"""The topic of syncs, on the cluster that a pipeline writes to: made, and read to its end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.client.settings import READ_UNCOMMITTED, ClientSettings
from odradek.kafka.wire.batch import Batch, cut_entries
from odradek.pipelines.lanes import Lane, Syncs
from odradek.spark.decision_log import ensure_topic

SYNCS_TOPIC = "odradek-syncs"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a lane stood when it was last looked at, and from where on to look for news."""

    position: int
    resume_from: int


class SyncLog:
    """Reads the syncs of lanes."""

    def __init__(self, settings: ClientSettings, topic: str = SYNCS_TOPIC) -> None:
        # To the end, not to the last stable offset: see `Syncs`.
        self.cluster: Cluster = shared_cluster(replace(settings, isolation_level=READ_UNCOMMITTED))
        self.topic = topic
        self._read: dict[TopicPartition, tuple[Syncs, int]] = {}  # And from where to read on.

    def prepare(self) -> None:
        """Make the topic if it is not there."""
        ensure_topic(self.cluster, self.topic)

    def partition_of(self, lane: Lane) -> TopicPartition:
        count = self.cluster.partition_count(self.topic)
        return TopicPartition(self.topic, partition_of(lane.key.encode(), count))

    def read(self, lanes: Iterable[Lane]) -> tuple[Syncs, dict[Lane, Place]]:
        """All syncs of the partitions that these lanes have theirs in, and where each stands.

        Only what is new since the last time is asked for.
        """
        every = Syncs()
        wanted = {lane: self.partition_of(lane) for lane in lanes}
        for partition in sorted(set(wanted.values())):
            syncs, start = self._read.get(partition, (Syncs(), None))
            syncs.pending.clear()
            self._read[partition] = syncs, self._read_into(syncs, partition, start)
            every.committed |= syncs.committed
        places = {
            lane: Place(every.position(lane, otherwise=-1), self._read[partition][1])
            for lane, partition in wanted.items()
        }
        return every, places

    def position(self, lane: Lane, known: Place) -> int:
        """Where a lane stands now; -1: it has not begun."""
        syncs = Syncs()
        self._read_into(syncs, self.partition_of(lane), known.resume_from)
        return max(syncs.position(lane, otherwise=-1), known.position)

    def _read_into(self, syncs: Syncs, partition: TopicPartition, start: int | None) -> int:
        if start is None:
            start = list_offsets(self.cluster, {partition: EARLIEST})[partition] or 0
        end = list_offsets(self.cluster, {partition: LATEST})[partition] or 0
        if start < end:
            for fetched in Fetcher(self.cluster, [OffsetRange(partition, start, end)]):
                for entry in cut_entries(fetched.data):
                    batch = Batch(entry)
                    batch.check_crc()
                    if batch.last_offset >= start:
                        syncs.apply(batch)
        return syncs.resume_from(end)
