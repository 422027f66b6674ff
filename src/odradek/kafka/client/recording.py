"""A topic to write single records to: gathered into batches, placed as Java's producer does.

What has gathered leaves when a batch is full, with the first record that comes after `LINGER_S`, or
at `flush`: there is no thread that would send it meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic
from typing import Self

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition, UnknownTopic
from odradek.kafka.client.identity import NOBODY, init_idempotent
from odradek.kafka.client.partitioner import StickyPartition, partition_of
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import producer_settings
from odradek.kafka.wire.batch import HEADER_BYTES
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.records import Header, Record
from odradek.runtime.clock import wall_clock_ms

LINGER_S = 0.05
OVERHEAD_BYTES = 20


class Recorder:
    """Writes to one topic inside a `with`; at its end all is acknowledged."""

    def __init__(self, topic: str, properties: Mapping[str, str]) -> None:
        self._topic = topic
        self._settings = producer_settings(properties)
        self._cluster = Cluster(Brokers(self._settings.client), creates_topics=True)
        self._count = self._cluster.partition_count(topic)
        is_numbered = self._settings.is_idempotent
        identity = init_idempotent(self._cluster) if is_numbered else NOBODY
        self._producer = Producer(self._cluster, self._settings, identity)
        self._sticky = StickyPartition(self._count)
        self._gathered: dict[int, list[Record]] = {}
        self._sizes: dict[int, int] = {}
        self._since = monotonic()
        self.count = self.bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *reason: object) -> None:
        try:
            if kind is None:
                self.flush()
        finally:
            self._producer.close()
            self._cluster.brokers.close()

    def send(
        self,
        key: bytes | None,
        value: bytes | None,
        headers: tuple[Header, ...] = (),
        partition: int | None = None,
        timestamp: int | None = None,
    ) -> None:
        """Take a record; where and when are chosen if they are not given."""
        size = len(key or b"") + len(value or b"") + OVERHEAD_BYTES
        place = self._place(key, size) if partition is None else partition
        if not 0 <= place < self._count:
            what = f"{self._topic} has no partition {place}: it has {self._count}"
            raise UnknownTopic(self._topic, what)
        records = self._gathered.setdefault(place, [])
        time_ms = wall_clock_ms() if timestamp is None else timestamp
        records.append(Record(len(records), time_ms, key, value, headers))
        self._sizes[place] = self._sizes.get(place, 0) + size
        self.count += 1
        self.bytes += len(key or b"") + len(value or b"")
        if self._sizes[place] >= self._settings.batch_bytes_max:
            self._send_batch(place)
        elif monotonic() - self._since > LINGER_S:
            self._send_all()

    def flush(self) -> None:
        """Return when all is acknowledged."""
        self._send_all()
        self._producer.flush()

    def _place(self, key: bytes | None, size: int) -> int:
        if key is not None:
            return partition_of(key, self._count)
        return self._sticky.take(size, self._settings.batch_bytes_max)

    def _send_all(self) -> None:
        for place in list(self._gathered):
            self._send_batch(place)
        self._since = monotonic()

    def _send_batch(self, place: int) -> None:
        records = self._gathered.pop(place)
        self._sizes.pop(place)
        encoded = bytes(write_batch(records)[HEADER_BYTES:])
        partition = TopicPartition(self._topic, place)
        latest_ms = max(record.timestamp for record in records)
        self._producer.send(partition, encoded, len(records), records[0].timestamp, latest_ms)
