"""Writes what comes along a lane: in transactions, each with the sync that tells of it.

Whoever opens a lane has it alone: a new epoch of its transactional id undoes what its predecessor
left open, and refuses what that one might still send. Only then is it asked where the lane stands.
So a task that is run twice, at once or one after the other, writes nothing twice.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.errors import BrokerRefused, KafkaClientError, TopicPartition
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.client.transactions import Transaction, end_transaction
from odradek.kafka.wire.batch import HEADER_BYTES
from odradek.kafka.wire.batch_writer import write_batch
from odradek.pipelines.lanes import Lane, Sync
from odradek.pipelines.sync_log import Place, SyncLog
from odradek.runtime.clock import wall_clock_ms


@dataclass(frozen=True, slots=True)
class Piece:
    """Encoded records that become one batch: their times count from `time_ms` on."""

    records: bytes
    count: int
    time_ms: int
    time_ms_max: int


class LaneWriter:
    """One lane, open from its beginning here to `close`."""

    def __init__(
        self, lane: Lane, settings: ProducerSettings, known: Place, *, first: int = 0
    ) -> None:
        """`first` is where a lane begins that has not begun yet."""
        self.lane = lane
        self.count = self.bytes_count = 0  # Of what is sent and not yet committed.
        self._last_count = 0
        self._partitions: set[int] = set()
        self._target_start: int | None = None
        self._settings = settings
        self._cluster = shared_cluster(settings.client)
        self._log = SyncLog(settings.client)
        self._syncs = self._log.partition_of(lane)
        self._transaction: Transaction | None = self._begin()
        found = self._log.position(lane, known)
        self.position = first if found < 0 else found

    def send(self, partition: int, piece: Piece) -> None:
        """Write a batch; all to one partition, or else new offsets are not told."""
        if self._transaction is None:
            self._transaction = self._begin()
        where = TopicPartition(self.lane.target, partition)
        self._transaction.send(where, piece.records, piece.count, piece.time_ms, piece.time_ms_max)
        self.count += piece.count
        self.bytes_count += len(piece.records)
        self._last_count = piece.count
        self._partitions.add(partition)
        if self._target_start is None:
            self._transaction.flush()
            self._target_start = self._transaction.last_offset(where)

    def commit(self, source_end: int) -> None:
        """All that was sent counts from now on, and the lane stands at `source_end`."""
        if source_end <= self.position:
            return
        transaction = self._transaction or self._begin()
        transaction.flush()
        sync = self._sync(transaction, source_end)
        record = bytes(write_batch([sync.to_record(self.lane, 0)])[HEADER_BYTES:])
        transaction.send(self._syncs, record, 1, wall_clock_ms())
        transaction.flush()
        transaction.close()
        code = end_transaction(self._cluster, transaction.identity, is_committed=True)
        if code:
            raise BrokerRefused(f"the end of {self.lane.transactional_id}", code)
        self._transaction, self.position = None, source_end
        self._forget()

    def abort(self) -> None:
        """Undo what is not committed."""
        if self._transaction is not None:
            with suppress(KafkaClientError):  # What went wrong first is what counts.
                self._transaction.abort()
            self._transaction = None

    def _sync(self, transaction: Transaction, source_end: int) -> Sync:
        unplaced = Sync(self.position, source_end, self.count)
        if len(self._partitions) != 1 or self._target_start is None:
            return unplaced
        (partition,) = self._partitions
        last = transaction.last_offset(TopicPartition(self.lane.target, partition))
        if min(last, self._target_start) < 0:  # A broker need not say where a second try is.
            return unplaced
        end = last + self._last_count
        return Sync(self.position, source_end, self.count, partition, self._target_start, end)

    def _begin(self) -> Transaction:
        return Transaction(self._cluster, self._settings, self.lane.transactional_id)

    def _forget(self) -> None:
        self.count = self.bytes_count = self._last_count = 0
        self._partitions.clear()
        self._target_start = None
