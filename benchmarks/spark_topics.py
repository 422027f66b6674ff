"""Topics to read from: records that compress about as well as real ones do."""

from __future__ import annotations

from argparse import Namespace
from random import Random

from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.producer import Producer
from odradek.kafka.client.producer_settings import producer_settings
from odradek.kafka.wire.batch import HEADER_BYTES
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.records import Record

KIBIBYTE = 1024
TIME_MS = 1_800_000_000_000
RECORD_OVERHEAD_BYTES = 20
WORDS = ("order", "shipped", "customer", "amount", "currency", "created", "2026-11-15", "EUR")


def fill(
    address: str,
    topic: str,
    partitions: int,
    rows: int,
    value_bytes: int,
    codec: str,
    given: Namespace,
) -> None:
    """Write so many records to a topic, spread over its partitions."""
    servers = {"bootstrap.servers": address, "compression.type": codec}
    settings = producer_settings(servers, is_idempotent=False)
    brokers = Brokers(settings.client)
    producer = Producer(Cluster(brokers), settings)
    in_batch = max(1, given.batch_bytes // (value_bytes + RECORD_OVERHEAD_BYTES))
    in_batch = min(in_batch, -(-rows // partitions))
    encoded = _encoded(in_batch, value_bytes)
    for partition in range(partitions):
        left = rows // partitions
        while left:
            count = min(in_batch, left)
            some = encoded if count == in_batch else _encoded(count, value_bytes)
            producer.send(TopicPartition(topic, partition), some, count, TIME_MS)
            left -= count
    producer.flush()
    producer.close()
    brokers.close()


def _encoded(count: int, value_bytes: int) -> bytes:
    random = Random(count)
    records = [
        Record(n, TIME_MS, b"%012d" % random.randrange(10**12), _value(random, value_bytes))
        for n in range(count)
    ]
    return bytes(write_batch(records)[HEADER_BYTES:])


def _value(random: Random, size: int) -> bytes:
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(f"{random.choice(WORDS)}={random.randrange(10**9)};")
        length += len(parts[-1])
    return "".join(parts).encode()[:size]
