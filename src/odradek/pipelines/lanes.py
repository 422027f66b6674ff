"""Lanes: one partition of a source on its way into a topic, and what has arrived.

Each stretch of a source that is written is told by a sync, in the same transaction as its records:
so a sync is there exactly if the records are. The syncs of a lane say where to go on after any
crash, and which offset in the target stands for an offset in the source.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.control import MarkerType, read_marker
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.errors import ProtocolError

SEPARATOR = "/"


@dataclass(frozen=True, slots=True)
class Lane:
    """One partition of the source of a pipeline, and the topic that it goes to."""

    pipeline: str
    source: TopicPartition
    target: str

    @property
    def key(self) -> str:
        parts = (self.pipeline, self.source.topic, str(self.source.partition), self.target)
        return SEPARATOR.join(parts)

    @property
    def transactional_id(self) -> str:
        return f"odradek-{self.key}"


@dataclass(frozen=True, slots=True)
class Sync:
    """The records of a stretch of the source are in the target.

    `partition` is None where keys have spread them; then nothing is known of their new offsets.
    """

    source_start: int
    source_end: int
    count: int
    partition: int | None = None
    target_start: int = -1
    target_end: int = -1

    @property
    def is_dense(self) -> bool:
        """Whether neither side has other offsets in between: then each can be told exactly."""
        source, target = self.source_end - self.source_start, self.target_end - self.target_start
        return self.partition is not None and source == self.count == target

    def to_record(self, lane: Lane, number: int) -> Record:
        """As it is stored. Each has a key of its own, so compaction takes none away."""
        value = {
            "source": [self.source_start, self.source_end],
            "count": self.count,
            "partition": self.partition,
            "target": [self.target_start, self.target_end],
        }
        key = f"{lane.key}{SEPARATOR}{self.source_start}".encode()
        return Record(number, 0, key, json.dumps(value, separators=(",", ":")).encode())


def read_sync(record: Record) -> tuple[str, Sync]:
    """The key of a lane, and what was synced there."""
    key, _, _ = (record.key or b"").decode(errors="replace").rpartition(SEPARATOR)
    try:
        value = json.loads(record.value or b"")
        (start, end), (target_start, target_end) = value["source"], value["target"]
        partition = value["partition"]
        return key, Sync(start, end, value["count"], partition, target_start, target_end)
    except (ValueError, KeyError, TypeError) as error:
        raise ProtocolError(f"offset {record.offset}: no sync: {error}") from error


@dataclass(slots=True)
class Syncs:
    """What the batches of a partition of the topic of syncs say, read as they stand there.

    Transactions of many lanes overlap, and the last stable offset waits for all of them. So we
    read on to the end, and look at each producer's marker ourselves: what a lane has committed
    counts, though another lane is still at it.
    """

    committed: dict[str, dict[int, Sync]] = field(default_factory=dict)  # By lane and start.
    pending: dict[int, list[Record]] = field(default_factory=dict)  # By producer.

    def apply(self, batch: Batch) -> None:
        if batch.is_control:
            marker = read_marker(batch)
            records = self.pending.pop(batch.producer_id, [])
            if marker is not None and marker.type is MarkerType.COMMIT:
                self._commit(records)
        elif batch.is_transactional:
            self.pending.setdefault(batch.producer_id, []).extend(read_records(batch))

    def resume_from(self, end: int) -> int:
        """Where to read on, so as to see how what is pending has ended.

        What was read before and is read once more makes no difference.
        """
        return min((records[0].offset for records in self.pending.values()), default=end)

    def position(self, lane: Lane, otherwise: int = 0) -> int:
        """Where a lane has come to."""
        ends = (sync.source_end for sync in self.committed.get(lane.key, {}).values())
        return max(ends, default=otherwise)

    def of(self, lane: Lane) -> list[Sync]:
        """The syncs of a lane, in the order of the source."""
        return [sync for _, sync in sorted(self.committed.get(lane.key, {}).items())]

    def _commit(self, records: Iterable[Record]) -> None:
        for record in records:
            key, sync = read_sync(record)
            self.committed.setdefault(key, {})[sync.source_start] = sync


def translate(syncs: list[Sync], offset: int) -> int | None:
    """The offset in the target where a reader goes on who stood at `offset` in the source.

    Where it cannot be told exactly it is an earlier one: a reader may see a record twice, and
    never misses one. None: nothing has arrived yet.
    """
    known = [sync for sync in syncs if sync.partition is not None and sync.count]
    if not known:
        return None
    number = bisect_right([sync.source_start for sync in known], offset) - 1
    if number < 0:
        return known[0].target_start
    sync = known[number]
    if offset >= sync.source_end:
        return sync.target_end
    return sync.target_start + (offset - sync.source_start if sync.is_dense else 0)
