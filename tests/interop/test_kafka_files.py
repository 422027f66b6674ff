"""Directories change hands: Apache's broker starts on ours, and ours on Apache's.

The ZooKeeper stays, be it Apache's or ours. Whoever comes next has every record as it was, knows
the producers, and goes on; then the first one comes back and finds what the other left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from time import time

import pytest
from kazoo.client import KazooClient

from odradek.kafka.storage.checkpoints import START_OFFSETS
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from odradek.kafka.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
)
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from odradek.kafka.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.interop.apache import ApacheZooKeeper
from tests.interop.apache_kafka import POM, apache_broker
from tests.interop.kafka_text import Broker
from tests.interop.maven import class_path
from tests.kafka.server.dialogues_records import CODECS, TIME_MS, make, records
from tests.kafka.server.running import running_broker
from tests.kafka.server.transcript import Transcript, told_records
from tests.waiting import wait_until
from tests.zookeeper.server.running import running_server

TOPICS = ["codecs", "compacted", "deleted", "numbered", "stamped"]
OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_PRODUCER_EPOCH = 45, 47
ZOOKEEPER = {"tickTime": 500}  # Sessions may be short, so that a dead broker is soon forgotten.
Started = Callable[[], AbstractContextManager[Broker]]


@contextmanager
def a_zookeeper(kind: str, directory: Path) -> Iterator[str]:
    directory.mkdir()
    if kind == "apache":
        with ApacheZooKeeper(directory, ZOOKEEPER) as theirs:
            yield theirs.connect_string
    else:
        with running_server(directory, **ZOOKEEPER) as ours:
            yield ours.connect_string


def owners(directory: Path, connect_string: str, **more: object) -> dict[str, Started]:
    """Who can be started on one and the same directory of logs."""
    settings = {
        "zookeeper.connect": connect_string,
        "zookeeper.session.timeout.ms": 2000,
        "log.dirs": directory / "logs",
        # The records are old, and nothing may go while we look.
        "log.retention.ms": -1,
        "log.flush.start.offset.checkpoint.interval.ms": 100,
        "log.cleaner.enable": "false",
        **more,
    }
    return {
        "ours": lambda: running_broker(directory / "ours", **settings),
        "theirs": lambda: apache_broker(directory / "theirs", **settings),
    }


def end(broker: Broker, *, is_killed: bool, connect_string: str) -> None:
    """Let a broker end, and wait until ZooKeeper has forgotten it."""
    if not is_killed:
        broker.stop()
        return
    broker.kill()
    client = KazooClient(connect_string)
    client.start()
    try:
        wait_until(lambda: client.exists("/brokers/ids/1") is None)
    finally:
        client.stop()
        client.close()


def put(to: Transcript, topic: str, data: bytes | bytearray) -> PartitionProduceResponse:
    partition = PartitionProduceData(index=0, records=data)
    topics = [TopicProduceData(name=topic, partition_data=[partition])]
    request = ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=topics)
    return to.ask_silently(request, 11, ProduceResponse).responses[0].partition_responses[0]


def put_numbered(to: Transcript, sequence: int, epoch: int = 2) -> PartitionProduceResponse:
    envelope = Envelope(producer_id=500, producer_epoch=epoch, base_sequence=sequence)
    # Producers who were last heard of long ago are forgotten.
    return put(to, "numbered", write_batch(records(2, int(time() * 1000)), envelope))


def fill(to: Transcript) -> None:
    """Several segments, all codecs, a start that has moved, a producer with numbers."""
    make(to, "codecs", segment_bytes="2000")
    make(to, "compacted", cleanup_policy="compact", segment_bytes="2000")
    make(to, "deleted", segment_bytes="2000")
    make(to, "numbered", segment_bytes="2000")
    make(to, "stamped", message_timestamp_type="LogAppendTime")
    add(to, 0)
    for sequence in range(0, 40, 2):
        assert put_numbered(to, sequence).error_code == 0
    partition = DeleteRecordsPartition(partition_index=0, offset=77)
    topics = [DeleteRecordsTopic(name="deleted", partitions=[partition])]
    request = DeleteRecordsRequest(topics=topics, timeout_ms=10_000)
    answer = to.ask_silently(request, 2, DeleteRecordsResponse)
    assert answer.topics[0].partitions[0].low_watermark == 77


def add(to: Transcript, start: int) -> None:
    """Some more for all but the producer with numbers."""
    for number in range(start, start + 30):
        codec = CODECS[number % len(CODECS)]
        batch = write_batch(records(4, TIME_MS + 1000 * number), Envelope(codec=codec))
        for topic in ("codecs", "deleted", "stamped"):
            assert put(to, topic, batch).error_code == 0
        keyed = records(2, TIME_MS + number, b"key %d" % (number % 4))
        assert put(to, "compacted", write_batch(keyed, Envelope(codec=codec))).error_code == 0


def all_of(to: Transcript) -> dict[str, list[str]]:
    """Every record of every topic with all that is said of it, and where times point to."""
    found = {}
    wait_until(lambda: all(has_leader(topic) for topic in metadata(to).topics))
    for topic in metadata(to).topics:
        assert topic.name is not None
        lines = [f"id {topic.topic_id.hex()}"]
        lines += (f"{each}: {offset_at(to, topic.name, each)}" for each in times(topic.name))
        lines += fetch_all(to, topic.topic_id, start=int(offset_at(to, topic.name, -2)[0]))
        found[topic.name] = lines
    return found


def metadata(to: Transcript) -> MetadataResponse:
    topics = [MetadataRequestTopic(name=name) for name in TOPICS]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    return to.ask_silently(request, 12, MetadataResponse)


def has_leader(topic: MetadataResponseTopic) -> bool:
    return topic.error_code == 0 and all(it.leader_id == 1 for it in topic.partitions)


def times(topic: str) -> list[int]:
    """What offsets are asked for by."""
    # Apache's broker finds nothing for a time as long as segments before the start are there.
    is_whole = topic != "deleted"
    return [-1, -2, -3, *range(TIME_MS, TIME_MS + 60_000 * is_whole, 2700)]


def offset_at(to: Transcript, topic: str, timestamp: int) -> tuple[int, int]:
    partition = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
    topics = [ListOffsetsTopic(name=topic, partitions=[partition])]
    answer = to.ask_silently(
        ListOffsetsRequest(replica_id=-1, topics=topics), 9, ListOffsetsResponse
    )
    found = answer.topics[0].partitions[0]
    assert found.error_code == 0
    return found.offset, found.timestamp


def fetch_all(to: Transcript, topic_id: bytes, start: int) -> Iterator[str]:
    offset = start
    while True:
        partition = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)
        topics = [FetchTopic(topic_id=topic_id, partitions=[partition])]
        request = FetchRequest(max_wait_ms=0, min_bytes=1, topics=topics)
        answer = to.ask_silently(request, 17, FetchResponse)
        data = answer.responses[0].partitions[0]
        assert data.error_code == 0
        lines = list(told_records(data.records))
        yield from lines
        if not lines:
            break
        offset = int(lines[-1].split()[0]) + 1
    yield f"from {data.log_start_offset} to {data.high_watermark}"


def go_on(to: Transcript, next_sequence: int) -> None:
    """The producer is known: what it sends again is not written again, and gaps are seen."""
    end_offset = offset_at(to, "numbered", -1)[0]
    again = put_numbered(to, next_sequence - 2)
    assert (again.error_code, again.base_offset) == (0, end_offset - 2)
    assert put_numbered(to, next_sequence + 2).error_code == OUT_OF_ORDER_SEQUENCE_NUMBER
    assert put_numbered(to, 0, epoch=1).error_code == INVALID_PRODUCER_EPOCH
    new = put_numbered(to, next_sequence)
    assert (new.error_code, new.base_offset) == (0, end_offset)


@pytest.mark.parametrize("zookeeper", ["apache", "ours"])
@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_a_directory_changes_hands_and_comes_back(
    tmp_path: Path, first: str, is_killed: bool, zookeeper: str
) -> None:
    class_path(POM)
    second = "theirs" if first == "ours" else "ours"
    with a_zookeeper(zookeeper, tmp_path / "zookeeper") as connect_string:
        started = owners(tmp_path, connect_string)
        with started[first]() as broker, Transcript(broker.port) as to:
            to.wait_until_up()
            fill(to)
            before = all_of(to)
            assert len(list((tmp_path / "logs" / "codecs-0").glob("*.log"))) > 2
            starts = tmp_path / "logs" / START_OFFSETS
            wait_until(lambda: starts.exists() and "deleted 0 77" in starts.read_text())
            end(broker, is_killed=is_killed, connect_string=connect_string)
        with started[second]() as broker, Transcript(broker.port) as to:
            to.wait_until_up()
            assert all_of(to) == before
            go_on(to, 40)
            add(to, 30)
            meanwhile = all_of(to)
            end(broker, is_killed=is_killed, connect_string=connect_string)
        with started[first]() as broker, Transcript(broker.port) as to:
            to.wait_until_up()
            assert all_of(to) == meanwhile
            go_on(to, 42)
