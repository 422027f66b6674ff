"""The shop: its topics, its catalogue, and orders that come in steadily.

Orders are sent turn by turn, and a turn waits until all of the last are acknowledged. So a broker
that dies delays orders and loses none, and none is older than one that was sent before it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from time import monotonic
from typing import NamedTuple

from odradek.demo.orders import PRODUCTS, Line, Order, closing_bell, lines, stamped
from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import KafkaClientError, TopicPartition
from odradek.kafka.client.identity import init_idempotent
from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import producer_settings
from odradek.kafka.client.topic_admin import create_topic
from odradek.kafka.wire.batch import HEADER_BYTES
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.records import Record
from odradek.local.cluster import wait_until
from odradek.runtime.clock import wall_clock_ms

ORDERS, PRODUCTS_TOPIC, REVENUE = "orders", "products", "revenue"
# Partitions, of which each of three brokers leads one, and what becomes of what is old.
TOPICS = {ORDERS: (3, "delete"), PRODUCTS_TOPIC: (1, "compact"), REVENUE: (3, "compact")}
TURN_S = 0.1  # Orders leave in small batches, some each turn.


class Turn(NamedTuple):
    """When orders were sent and where to, and when the last of them was acknowledged."""

    began: float
    ended: float
    partitions: frozenset[int]


class Shop:
    """Writes the catalogue, then orders: so many a second, until told to stop."""

    def __init__(self, servers: str, seed: int = 1) -> None:
        self._settings = producer_settings({"bootstrap.servers": servers})
        self._cluster: Cluster = shared_cluster(self._settings.client)
        self._producer: Producer | None = None
        self._lines = lines(seed)
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.orders: list[Order] = []  # All that can be read and was acknowledged.
        self.broken_count = 0
        self._quiet_until_ms = 0
        self._last_turn = Turn(0.0, 0.0, frozenset())
        self.failure: KafkaClientError | None = None

    def set_up(self) -> None:
        """Make the topics and write the catalogue."""
        create_topics(self._cluster)
        self._producer = Producer(self._cluster, self._settings, init_idempotent(self._cluster))
        value = [json.dumps(asdict(product)).encode() for product in PRODUCTS]
        keys = [product.product_id.encode() for product in PRODUCTS]
        entries = [Line(key, text, None) for key, text in zip(keys, value, strict=True)]
        self._send(PRODUCTS_TOPIC, entries)

    def open(self, per_second: int) -> None:
        """Let orders come in, in a thread, until `close`."""
        self._stopped.clear()
        self._thread = threading.Thread(target=self._sell, args=(per_second,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """No more orders; all that came are acknowledged."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._check()

    def await_ack(self, partitions: set[int], since: float, within_s: float) -> float:
        """When orders for these partitions, all sent after a moment, were acknowledged."""
        found = self._last_turn

        def is_acknowledged() -> bool:
            nonlocal found
            self._check()
            found = self._last_turn
            return found.began > since and found.partitions >= partitions

        wait_until(is_acknowledged, "an order to be acknowledged", within_s)
        return found.ended

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def ring(self) -> None:
        """Let all windows be over; then no order may come for a while."""
        bell = closing_bell(wall_clock_ms())
        self._send(ORDERS, [bell])
        assert bell.order is not None
        self._quiet_until_ms = bell.order.at_ms

    def await_morning(self) -> None:
        """Return when orders would not be late any more."""
        left_ms = self._quiet_until_ms - wall_clock_ms()
        threading.Event().wait(max(0, left_ms) / 1000)

    def _sell(self, per_second: int) -> None:
        started, sent = monotonic(), 0
        while not self._stopped.wait(TURN_S):
            due = int((monotonic() - started) * per_second) - sent
            sent += due
            some = [stamped(line, wall_clock_ms()) for line in islice(self._lines, due)]
            began = monotonic()
            try:
                partitions = self._send(ORDERS, some)
            except KafkaClientError as error:
                self.failure = error
                return
            self._last_turn = Turn(began, monotonic(), partitions)
            self.orders += [line.order for line in some if line.order is not None]
            self.broken_count += sum(line.order is None for line in some)

    def _send(self, topic: str, some: Iterable[Line]) -> frozenset[int]:
        """Return when all are acknowledged; the partitions that they are in."""
        assert self._producer is not None
        count, now_ms = self._cluster.partition_count(topic), wall_clock_ms()
        grouped: dict[int, list[Record]] = {}
        for line in some:
            records = grouped.setdefault(partition_of(line.key, count), [])
            records.append(Record(len(records), 0, line.key, line.value))
        try:
            for partition, records in grouped.items():
                encoded = bytes(write_batch(records)[HEADER_BYTES:])
                where = TopicPartition(topic, partition)
                self._producer.send(where, encoded, len(records), now_ms)
            self._producer.flush()
        finally:
            self._producer.close()
        return frozenset(grouped)


def create_topics(cluster: Cluster) -> None:
    """As many replicas as the cluster has by default."""
    for name, (partitions, policy) in TOPICS.items():
        create_topic(cluster, name, partitions=partitions, configs={"cleanup.policy": policy})
