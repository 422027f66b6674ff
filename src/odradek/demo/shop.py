"""The shop: a broker in a process of its own, its topics, and orders that come in steadily."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from time import monotonic
from urllib.request import urlopen

from odradek.demo.orders import PRODUCTS, Line, Order, closing_bell, lines, stamped
from odradek.kafka.client.cluster import Cluster, shared_cluster
from odradek.kafka.client.errors import BrokerRefused, KafkaClientError, TopicPartition
from odradek.kafka.client.identity import init_idempotent
from odradek.kafka.client.partitioner import partition_of
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import producer_settings
from odradek.kafka.wire.batch import HEADER_BYTES
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.records import Record
from odradek.runtime.clock import wall_clock_ms
from odradek.runtime.errors import OdradekError

HOST = "127.0.0.1"
HTTP_OK = 200
ORDERS, PRODUCTS_TOPIC, REVENUE = "orders", "products", "revenue"
TOPICS = {ORDERS: (3, "delete"), PRODUCTS_TOPIC: (1, "compact"), REVENUE: (2, "compact")}
TURN_S = 0.1  # Orders leave in small batches, some each turn.
START_WITHIN_S = 60
STOP_WITHIN_S = 30


class BrokerDied(OdradekError):
    """The broker did not start, or did not live."""


class BrokerProcess:
    """A broker with a ZooKeeper inside, as `odradek broker` runs it."""

    def __init__(self, directory: Path) -> None:
        self.port, self.http_port = free_port(), free_port()
        self.data = directory / "broker"
        self.log = directory / "broker.log"
        self.properties = directory / "server.properties"
        self.properties.write_text(
            f"broker.id=1\nlog.dirs={self.data}\nlisteners=PLAINTEXT://{HOST}:{self.port}\n"
            "offsets.topic.replication.factor=1\ntransaction.state.log.replication.factor=1\n"
            "transaction.state.log.min.isr=1\n"
        )
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        """Start it, and return when it takes connections."""
        command = [sys.executable, "-m", "odradek.cli", "broker", str(self.properties)]
        self.log.touch()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--http", str(self.http_port)],
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the demo, which stops the broker in turn.
            )
        deadline, pause = monotonic() + START_WITHIN_S, threading.Event()
        while not self._is_ready():
            if self._process.poll() is not None or monotonic() > deadline:
                raise BrokerDied(f"the broker did not start: see {self.log}")
            pause.wait(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(STOP_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _is_ready(self) -> bool:
        """Whether it is well, by its own account."""
        try:
            with urlopen(f"http://{HOST}:{self.http_port}/health", timeout=1) as answer:
                return bool(answer.status == HTTP_OK)
        except OSError:
            return False


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
            try:
                self._send(ORDERS, some)
            except KafkaClientError as error:
                self.failure = error
                return
            self.orders += [line.order for line in some if line.order is not None]
            self.broken_count += sum(line.order is None for line in some)

    def _send(self, topic: str, some: Iterable[Line]) -> None:
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


def create_topics(cluster: Cluster) -> None:
    wanted = [
        CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            assignments=[],
            configs=[CreatableTopicConfig(name="cleanup.policy", value=policy)],
        )
        for name, (partitions, policy) in TOPICS.items()
    ]
    answer = cluster.ask_controller(CreateTopicsRequest(topics=wanted), CreateTopicsResponse)
    for topic in answer.topics:
        if topic.error_code:
            raise BrokerRefused(f"creating {topic.name}", topic.error_code, topic.error_message)
    for name in TOPICS:
        cluster.await_topic(name)


def free_port() -> int:
    """A port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
