"""What the cleaner leaves of a batch: all of it, some records, none, or nothing.

The newest record of each key stays, as does all that the map does not reach; records without a
key go. A tombstone stays until its batch's delete horizon, which is set when the cleaner first
meets it (KIP-534); so does a marker of whose transaction no data was met. A batch keeps its
offsets and its sequence whatever goes, and an active producer's last one stays, if need be empty:
its sequence would be forgotten with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.cleaner_transactions import CleanedTransactions
from odradek.kafka.storage.entries import Entry
from odradek.kafka.storage.offset_map import OffsetMap
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.sketch import Sketch, sketch
from odradek.kafka.wire.batch import DELETE_HORIZON, Batch
from odradek.kafka.wire.batch_writer import rewrite_batch, write_empty_batch
from odradek.kafka.wire.compression import Codec, compress
from odradek.kafka.wire.message_set import read_message, unwrap, write_message_set
from odradek.runtime.disk import Buffer


class LastOfProducer(NamedTuple):
    """What an active producer wrote last: where its data ends, or only its epoch."""

    last_offset: int | None  # None: a marker is all that is known of it.
    epoch: int


def last_of_producers(producers: Producers) -> dict[int, LastOfProducer]:
    return {
        producer.producer_id: LastOfProducer(
            producer.batches[-1].last_offset if producer.batches else None, producer.epoch
        )
        for producer in producers.known.values()
    }


class BatchFilter:
    """Sees the batches of one log in order."""

    def __init__(
        self,
        newest: OffsetMap,
        transactions: CleanedTransactions,
        last_of: Mapping[int, LastOfProducer],
        now_ms: int,
        delete_retention_ms: int,
    ) -> None:
        self.records_read = self.records_kept = 0
        self.aborted: list[AbortedTransaction] = []  # Those that readers must still know.
        self.keeps_old_tombstones = True  # Those of magic 0 and 1, which have no horizon.
        self._newest = newest
        self._transactions = transactions
        self._last_of = last_of
        self._now_ms = now_ms
        self._horizon_ms = now_ms + delete_retention_ms

    def filter(self, entry: Entry) -> Buffer | None:
        """The bytes that take the place of an entry; None if none do."""
        batch = entry.batch()
        if batch is None:
            return self._filter_messages(entry)
        batch.check_crc()
        self.records_read += batch.record_count
        left = self._filter_control(batch) if batch.is_control else self._filter_data(batch)
        if left is None and self._is_last_of_producer(batch):
            return write_empty_batch(batch)
        return left

    def _filter_control(self, batch: Batch) -> Buffer | None:
        is_unneeded, aborted = self._transactions.end(batch)
        if aborted is not None:
            self.aborted.append(aborted)
        if not batch.record_count:
            return None
        horizon_ms = batch.delete_horizon_ms
        if is_unneeded and horizon_ms is not None and horizon_ms <= self._now_ms:
            return None
        self.records_kept += batch.record_count
        if is_unneeded and horizon_ms is None:
            return self._rewrite(batch, sketch(batch), range(batch.record_count), is_horizon=True)
        return batch.data

    def _filter_data(self, batch: Batch) -> Buffer | None:
        if self._transactions.is_aborted(batch) or not batch.record_count:
            return None
        if batch.base_offset >= self._newest.end_offset:
            self.records_kept += batch.record_count
            return batch.data
        drawn = sketch(batch)
        kept = self._newest.newest(drawn.keys, batch.base_offset)
        needs_horizon = False
        if drawn.tombstones:
            tombstones, horizon_ms = set(drawn.tombstones), batch.delete_horizon_ms
            if horizon_ms is not None and horizon_ms <= self._now_ms:
                kept = [number for number in kept if number not in tombstones]
            needs_horizon = horizon_ms is None and not tombstones.isdisjoint(kept)
        self.records_kept += len(kept)
        if not kept:
            return None
        if len(kept) == batch.record_count and not needs_horizon:
            return batch.data
        return self._rewrite(batch, drawn, kept, is_horizon=needs_horizon)

    def _rewrite(
        self, batch: Batch, drawn: Sketch, kept: Sequence[int], *, is_horizon: bool
    ) -> bytearray:
        """The records that stay, in the batch's own codec; `is_horizon`: with a new horizon."""
        if batch.is_append_time:
            timestamps = [batch.max_timestamp] * len(kept)
        else:
            timestamps = [drawn.timestamp(number, batch.base_timestamp) for number in kept]
        attributes, base = batch.attributes, timestamps[0]
        if is_horizon:
            attributes, base = attributes | DELETE_HORIZON, self._horizon_ms
        elif batch.delete_horizon_ms is not None:
            base = batch.base_timestamp
        if base == batch.base_timestamp:
            records: bytes | bytearray = drawn.runs(kept)
        else:
            records = drawn.moved(kept, timestamps, base)
        if (codec := batch.codec) is not Codec.NONE:
            records = compress(codec, records)
        return rewrite_batch(batch, records, len(kept), attributes, base, max(timestamps))

    def _is_last_of_producer(self, batch: Batch) -> bool:
        last = self._last_of.get(batch.producer_id) if batch.producer_id >= 0 else None
        if last is None:
            return False
        if last.last_offset is not None:
            return batch.last_offset == last.last_offset
        return batch.is_control and batch.producer_epoch == last.epoch

    def _filter_messages(self, entry: Entry) -> Buffer | None:
        """A message of magic 0 or 1, or some in a wrapper."""
        message = read_message(entry.data)
        records = list(unwrap(message))
        self.records_read += len(records)
        kept = records
        if entry.head.last_offset < self._newest.end_offset:
            keys = [record.key for record in records]
            numbers = self._newest.newest(keys, entry.head.base_offset)
            keeps = self.keeps_old_tombstones
            chosen = (records[number] for number in numbers)
            kept = [record for record in chosen if keeps or record.value is not None]
        self.records_kept += len(kept)
        if len(kept) == len(records):
            return entry.data
        if not kept:
            return None
        append_time_ms = message.timestamp if message.is_append_time else None
        return write_message_set(kept, message.magic, message.codec, append_time_ms)
