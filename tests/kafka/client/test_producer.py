"""Every batch arrives once and in order, whatever becomes of requests and brokers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, InvalidSetting, TimedOut, TopicPartition
from odradek.kafka.client.identity import NOBODY, init_idempotent
from odradek.kafka.client.producer import Producer, RecordTooLarge
from odradek.kafka.client.producer_settings import (
    ProducerSettings,
    problems_of_producer,
    producer_settings,
)
from odradek.kafka.wire.batch import HEADER_BYTES, Batch
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.produce import ProduceRequest
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.client.scripted import Hangup
from tests.kafka.client.writing import LostAnswer, Trouble, WritingCluster
from tests.waiting import wait_until

PARTITION = TopicPartition("t", 0)


@pytest.fixture
def cluster() -> Iterator[WritingCluster]:
    with WritingCluster(brokers=2) as made:
        made.create("t", leaders=[0, 1, 0])
        yield made


def producer(cluster: WritingCluster, *, is_idempotent: bool = True, **given: Any) -> Producer:
    brokers = cluster.brokers()
    settings = ProducerSettings(client=brokers.settings, is_idempotent=is_idempotent, **given)
    picture = Cluster(brokers)
    return Producer(picture, settings, init_idempotent(picture) if is_idempotent else NOBODY)


def encoded(*values: bytes) -> bytes:
    records = [Record(number, 0, None, value) for number, value in enumerate(values)]
    return bytes(write_batch(records)[HEADER_BYTES:])


def send(to: Producer, numbers: range, partition: int = 0) -> None:
    for number in numbers:
        to.send(TopicPartition("t", partition), encoded(b"%d" % number), 1, 1000)


def values(cluster: WritingCluster, partition: int = 0) -> list[int]:
    return [
        int(record.value or b"")
        for batch in cluster.logs["t"][partition].batches
        for record in read_records(Batch(memoryview(batch)))
    ]


def test_batches_arrive_in_order_in_each_partition(cluster: WritingCluster) -> None:
    to = producer(cluster)
    for partition in (0, 1, 2):
        send(to, range(50), partition)
    to.flush()
    assert [values(cluster, partition) for partition in (0, 1, 2)] == [list(range(50))] * 3
    to.close()


@pytest.mark.parametrize("codec", Codec)
def test_every_codec_is_read_back(cluster: WritingCluster, codec: Codec) -> None:
    to = producer(cluster, codec=codec)
    to.send(PARTITION, encoded(b"1", b"2", b"3"), 3, 1234)
    to.flush()
    assert values(cluster) == [1, 2, 3]
    (batch,) = cluster.logs["t"][0].batches
    header = Batch(memoryview(batch))
    assert (header.codec, header.base_timestamp, header.max_timestamp) == (codec, 1234, 1234)
    to.close()


@pytest.mark.parametrize("seed", range(10))
def test_nothing_is_lost_or_doubled_or_moved_by_troubles(
    cluster: WritingCluster, seed: int
) -> None:
    random = Random(seed)
    kinds: list[Trouble] = [ErrorCode.NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER, Hangup, LostAnswer]
    cluster.produce_troubles.extend(random.choice(kinds) for _ in range(25))
    to = producer(cluster)
    for number in range(60):
        send(to, range(number, number + 1), random.choice((0, 0, 1)))
    to.flush()
    found = values(cluster, 0), values(cluster, 1)
    assert all(one == sorted(one) for one in found)
    assert sorted(found[0] + found[1]) == list(range(60))
    to.close()


def test_a_partition_whose_leader_moves_is_followed(cluster: WritingCluster) -> None:
    to = producer(cluster)
    send(to, range(5))
    to.flush()
    cluster.logs["t"][0].leader = 1
    send(to, range(5, 10))
    to.flush()
    assert values(cluster) == list(range(10))
    to.close()


def test_with_acks_0_nothing_is_waited_for(cluster: WritingCluster) -> None:
    to = producer(cluster, is_idempotent=False, acks=0)
    send(to, range(5))
    to.flush()
    to.close()
    wait_until(lambda: values(cluster) == list(range(5)))


def test_requests_are_sent_ahead_of_answers_but_not_too_many(cluster: WritingCluster) -> None:
    to = producer(cluster, requests_in_flight_max=2, buffer_bytes_max=1_000_000)
    send(to, range(20))
    assert sum(isinstance(one, ProduceRequest) for one in cluster.asked) <= 3
    to.flush()
    assert values(cluster) == list(range(20))
    to.close()


def test_a_refusal_that_no_retry_helps_against_is_raised_by_name(cluster: WritingCluster) -> None:
    cluster.produce_troubles.append(ErrorCode.MESSAGE_TOO_LARGE)
    to = producer(cluster)
    send(to, range(1))
    with pytest.raises(BrokerRefused, match=r"writing to t-0: MESSAGE_TOO_LARGE"):
        to.flush()
    to.close()


def test_who_cannot_deliver_in_time_says_so(cluster: WritingCluster) -> None:
    to = producer(cluster, delivery_timeout_ms=60)
    cluster.produce_troubles.extend([ErrorCode.NOT_ENOUGH_REPLICAS] * 100)
    send(to, range(1))
    with pytest.raises(TimedOut, match=r"writing to t-0.*NOT_ENOUGH_REPLICAS"):
        to.flush()
    to.close()


def test_what_no_request_may_carry_is_refused(cluster: WritingCluster) -> None:
    to = producer(cluster, request_bytes_max=1000)
    with pytest.raises(RecordTooLarge, match=r"t-0.*max.request.size is 1000"):
        to.send(PARTITION, encoded(b"x" * 1000), 1, 0)
    to.close()


def test_settings_have_the_names_of_kafka_s_producer() -> None:
    given = {
        "bootstrap.servers": "a:1",
        "acks": "1",
        "compression.type": "ZSTD",
        "compression.zstd.level": "7",
        "batch.size": "100",
    }
    settings = producer_settings(given)
    assert (settings.acks, settings.codec, settings.level) == (1, Codec.ZSTD, 7)
    assert settings.batch_bytes_max == 100 and not settings.is_idempotent


def test_all_that_is_wrong_with_settings_is_named() -> None:
    wrong = {"acks": "2", "compression.type": "rar", "batch.size": "-1", "linger.ms": "5"}
    keys = [problem.key for problem in problems_of_producer(wrong)]
    assert keys == ["bootstrap.servers", "batch.size", "acks", "compression.type"]


@pytest.mark.parametrize(
    "other", [{"acks": "1"}, {"max.in.flight.requests.per.connection": "6"}], ids=str
)
def test_who_asks_for_idempotence_and_its_contrary_is_refused(other: dict[str, str]) -> None:
    given = {"bootstrap.servers": "a:1", "enable.idempotence": "true", **other}
    with pytest.raises(InvalidSetting, match="to be idempotent"):
        producer_settings(given)
