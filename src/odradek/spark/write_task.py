"""What one task writes: Arrow batches, gathered, encoded by partition and sent.

Small Arrow batches are gathered first, for each becomes a batch of records in each partition that
it has rows for. Producers of plain tasks stay with the process: their numbers go on, so the next
task needs no new producer id.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from os import getpid
from random import Random
from typing import Protocol

import pyarrow as pa

from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import KafkaClientError, TopicPartition
from odradek.kafka.client.identity import NOBODY, init_idempotent
from odradek.kafka.client.partitioner import StickyPartition
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import ProducerSettings
from odradek.kafka.client.transactions import Transaction
from odradek.runtime.clock import wall_clock_ms
from odradek.spark.arrow.encoder import find_encoder
from odradek.spark.arrow.rows import Destination, rows_of
from odradek.spark.sink_options import SinkOptions

GATHERED_BYTES = 8 * 1024 * 1024
BATCH_BYTES_MAX = 64 * 1024 * 1024
COLUMNS = ("key", "value", "headers", "partition", "topic")


class Sender(Protocol):
    """A producer, or a transaction."""

    def send(self, partition: TopicPartition, records: bytes, count: int, time_ms: int) -> None: ...


def write_plainly(options: SinkOptions, batches: Iterable[pa.RecordBatch]) -> int:
    """Write all rows at least once; return how many there were."""
    cluster = shared_cluster(options.producer.client, creates_topics=True)
    producer = _take_producer(cluster, options.producer)
    try:
        count = send_rows(cluster, options, batches, producer)
        producer.flush()
    finally:
        producer.close()
    _keep_producer(options.producer, producer)  # After an error it would be no good.
    return count


def write_in_transaction(
    options: SinkOptions, batches: Iterable[pa.RecordBatch], transaction: Transaction
) -> int:
    """Write all rows, and leave the transaction open; undo it if that fails."""
    cluster = shared_cluster(options.producer.client, creates_topics=True)
    try:
        count = send_rows(cluster, options, batches, transaction)
        transaction.flush()
    except BaseException:
        with suppress(KafkaClientError):  # What went wrong first is what counts.
            transaction.abort()
        raise
    transaction.close()
    return count


def send_rows(
    cluster: Cluster, options: SinkOptions, batches: Iterable[pa.RecordBatch], sender: Sender
) -> int:
    """Encode all rows and hand them to the sender."""
    encode, known = find_encoder(), _Destinations(cluster)
    count = 0
    for batch in gathered(batches):
        rows, topics = rows_of(batch, options.topic)
        count += rows.count
        time_ms = wall_clock_ms()
        destinations = [known.of(topic) for topic in topics]
        for encoded in encode(rows, destinations, options.producer.batch_bytes_max):
            sender.send(encoded.partition, encoded.records, encoded.count, time_ms)
    return count


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of a reasonable size, with the columns that count."""
    some: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        for part in _cut(batch.select([n for n in COLUMNS if n in batch.schema.names])):
            some.append(part)
            size += part.nbytes
            if size >= GATHERED_BYTES:
                yield _joined(some)
                some, size = [], 0
    if some:
        yield _joined(some)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if not batch.num_rows:
        return
    parts = min(batch.num_rows, -(-batch.nbytes // BATCH_BYTES_MAX) or 1)
    rows = -(-batch.num_rows // parts)
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    (joined,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined


class _Destinations:
    """The topics that a task has met, and where their rows without a key go."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[str, Destination] = {}

    def of(self, topic: str) -> Destination:
        found = self._known.get(topic)
        if found is None:
            count = self._cluster.partition_count(topic)
            # Tasks begin anywhere: with few rows each they would all begin at 0.
            first = Random().randrange(count)
            found = self._known[topic] = Destination(topic, StickyPartition(count, first))
        return found


_producers: dict[tuple[int, ProducerSettings], Producer] = {}


def _take_producer(cluster: Cluster, settings: ProducerSettings) -> Producer:
    """The producer of this process, or a new one; who takes it has it alone."""
    kept = _producers.pop((getpid(), settings), None)
    if kept is not None and kept.cluster is cluster:
        return kept
    identity = init_idempotent(cluster) if settings.is_idempotent else NOBODY
    return Producer(cluster, settings, identity)


def _keep_producer(settings: ProducerSettings, producer: Producer) -> None:
    _producers[getpid(), settings] = producer
