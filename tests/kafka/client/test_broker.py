"""The client and a broker of ours: what was written is read, also across a restart."""

from __future__ import annotations

from pathlib import Path

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.client.brokers import broker_address, topics_of
from tests.kafka.server.running import running_broker

RECORDS = [Record(n, 1_800_000_000_000 + n, None, b"value %d" % n) for n in range(1000)]


def values(fetched: memoryview) -> list[bytes | None]:
    return [r.value for batch in read_batches(fetched) for r in read_records(batch)]


def test_what_was_written_is_read(tmp_path: Path) -> None:
    with broker_address(tmp_path) as address, topics_of(address) as topics:
        name = topics.create(partitions=2)
        one, other = TopicPartition(name, 0), TopicPartition(name, 1)
        topics.append(name, 0, RECORDS)
        topics.append(name, 1, RECORDS[:10])
        cluster = topics.cluster
        assert list_offsets(cluster, {one: EARLIEST, other: LATEST}) == {one: 0, other: 10}
        late = RECORDS[500].timestamp
        assert list_offsets(cluster, {one: late, other: late}) == {one: 500, other: None}
        read: dict[TopicPartition, list[bytes | None]] = {one: [], other: []}
        for fetched in Fetcher(cluster, [OffsetRange(one, 0, 1000), OffsetRange(other, 0, 10)]):
            read[fetched.partition] += values(fetched.data)
        assert read == {one: [r.value for r in RECORDS], other: [r.value for r in RECORDS[:10]]}


def test_a_broker_may_restart_in_the_middle_of_a_read(tmp_path: Path) -> None:
    with running_broker(tmp_path) as broker, topics_of(broker.address) as topics:
        name = topics.create()
        partition = TopicPartition(name, 0)
        topics.append(name, 0, RECORDS)
        cluster = topics.cluster
        stream = iter(Fetcher(cluster, [OffsetRange(partition, 0, 2000)]))
        read = values(next(stream).data)
        broker.stop()
        broker.start()
        topics.append(name, 0, RECORDS)
        for fetched in stream:
            read += values(fetched.data)
        assert read == [record.value for record in RECORDS] * 2
