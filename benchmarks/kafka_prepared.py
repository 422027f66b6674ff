"""Produce of batches that were made before: what a broker takes where its clients are no limit.

A client that makes its batches compresses on one core. With lz4 and 1 KiB the generator of
`kafka_broker` sends some 330,000 records a second on two quick cores even to a broker that writes
none of them, and Apache's takes four times as many: there it says more of itself than of brokers.
Here each request is one that was made before: a batch of a mebibyte, before it is compressed, for
each of six partitions. Five are on their way at a time, as librdkafka's and franz-go's are. Every
answer is looked at, and where the logs end when all is done.

    python -m benchmarks.kafka_prepared --rounds 5

As `kafka_broker` otherwise: Apache's ZooKeeper, sides in turns. Each case has a broker and a
directory of its own, which are gone before the next one: where the page cache grows into memory
that was free since the machine's start, the kernel takes several times as long for each record, on
either side, most likely because the host has yet to give that memory.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter, time
from typing import Any, cast

from benchmarks.kafka_broker import ODRADEK, Goal, Results, given_options, rows
from benchmarks.kafka_cluster import generator_library, servers
from benchmarks.zookeeper_server import environment, warm
from odradek.kafka.client.addresses import Address
from odradek.kafka.client.brokers import Brokers
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.connection import BlockingConnection
from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.kafka.client.settings import client_settings
from odradek.kafka.client.topic_admin import create_topic
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from odradek.kafka.wire.records import Record

PARTITIONS = 6
IN_FLIGHT = 5
BATCH_BYTES = 1_000_000
VALUE_BYTES = 2 << 30  # In each case, before they are compressed.
OVERHEAD_BYTES = 12
WORDS = b"offset partition leader follower segment index replica broker controller session "
SIZES = {100: 1.0, 1024: 1.2}
CODECS = ("none", "lz4")
GOALS: list[Goal] = [
    ("prepared", f"{size}B_{codec}", "records_per_s", goal, True)
    for size, goal in SIZES.items()
    for codec in CODECS
]


def value(random: Random, size: int) -> bytes:
    """Half by chance, half of words: to be compressed to about a half, as the generator's."""
    parts = [
        random.randbytes(16) + WORDS[at : at + 16]
        for at in random.choices(range(len(WORDS) - 16), k=size // 32 + 1)
    ]
    return b"".join(parts)[:size]


def requests(size: int, codec: str, count: int, acks: int) -> ProduceRequest:
    """A request with a batch of so many records for each partition."""
    random, now_ms = Random(size), int(time() * 1000)
    values = [value(random, size) for _ in range(count)]
    batch = write_batch(
        [Record(at, now_ms, None, it) for at, it in enumerate(values)],
        Envelope(codec=Codec[codec.upper()]),
    )
    data = [PartitionProduceData(index=it, records=bytes(batch)) for it in range(PARTITIONS)]
    topics = [TopicProduceData(name="measured", partition_data=data)]
    return ProduceRequest(acks=acks, timeout_ms=30_000, topic_data=topics)


def check(answer: ProduceResponse) -> None:
    told = [one for topic in answer.responses for one in topic.partition_responses]
    assert len(told) == PARTITIONS
    assert not any(one.error_code for one in told), told


def seconds_for(connection: BlockingConnection, request: ProduceRequest, count: int) -> float:
    """How long it takes until so many of these requests are answered."""
    begun = perf_counter()
    sent = answered = 0
    while answered < count:
        while sent < count and sent - answered < IN_FLIGHT:
            connection.send(request)
            sent += 1
        check(cast(ProduceResponse, connection.receive().message))
        answered += 1
    return perf_counter() - begun


def rate(address: Address, size: int, codec: str) -> float:
    """Records a second, after a tenth of them that does not count."""
    brokers = Brokers(client_settings({"bootstrap.servers": str(address)}))
    cluster = Cluster(brokers)
    create_topic(cluster, "measured", partitions=PARTITIONS)
    in_batch = BATCH_BYTES // (size + OVERHEAD_BYTES)
    count = VALUE_BYTES // (size * in_batch * PARTITIONS)
    request = requests(size, codec, in_batch, acks=1)
    try:
        with brokers.lend(address) as connection:
            seconds_for(connection, request, count // 10)
            os.sync()  # What was written before is not to be waited for now.
            seconds = seconds_for(connection, request, count)
        partitions = {TopicPartition("measured", it): LATEST for it in range(PARTITIONS)}
        ends = list_offsets(cluster, partitions).values()
        assert set(ends) == {(count // 10 + count) * in_batch}, ends
        return count * in_batch * PARTITIONS / seconds
    finally:
        brokers.close()


def measure(generators: Path, broker: str) -> Results:
    library: Any = generator_library(generators)
    zookeeper = f"{generators / 'lib' / 'apache-zookeeper'} {{zoo_cfg}}"
    found: Results = {}
    for size in SIZES:
        for codec in CODECS:
            with (
                tempfile.TemporaryDirectory() as name,
                servers(library, Path(name), zookeeper, broker, ids=(1,)) as (_, running),
            ):
                library.wait_port(running.port, running.proc, 60, running.log)
                told = rate(Address("127.0.0.1", running.port), size, codec)
                found[f"{size}B_{codec}"] = {"records_per_s": told}
    return found


def main() -> None:
    given = given_options(__doc__, ["prepared"])
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    brokers = {"a": f"{given.generators / 'lib' / 'apache-kafka'} {{server_properties}}"}
    brokers["b"] = ODRADEK
    rounds: list[Results] = []
    with tempfile.TemporaryDirectory() as cache:
        warm(cache)
        os.environ.update(environment(cache))
        for turn in range(given.rounds):
            order = sorted(brokers, reverse=bool(turn % 2))
            found = {it: measure(given.generators, brokers[it]) for it in order}
            print(found, file=sys.stderr, flush=True)
            rounds.append(found)
    for row in rows("prepared", rounds, GOALS):
        print(row, flush=True)


if __name__ == "__main__":
    main()
