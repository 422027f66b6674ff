"""Ranges of partitions, read past every trouble that a cluster can make on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import (
    BrokerRefused,
    CorruptRecords,
    OffsetOutOfRange,
    TimedOut,
    TopicPartition,
    UnknownTopic,
)
from odradek.kafka.client.fetcher import Fetched, Fetcher, OffsetRange
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.batch_writer import write_batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import AbortedTransaction, FetchRequest
from odradek.kafka.wire.records import Record, read_records
from tests.kafka.client.scripted import Hangup, Log, ScriptedCluster

BATCH_RECORDS = 10
BATCHES = 12
END = BATCH_RECORDS * BATCHES
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.fixture
def cluster() -> Iterator[ScriptedCluster]:
    with ScriptedCluster(brokers=2) as scripted:
        scripted.create("t", leaders=[0, 1])
        for partition in (0, 1):
            for start in range(0, END, BATCH_RECORDS):
                offsets = range(start, start + BATCH_RECORDS)
                batch = write_batch([Record(n, n, None, b"%d" % n) for n in offsets])
                scripted.append("t", partition, batch)
        yield scripted


def reading(cluster: ScriptedCluster, *ranges: OffsetRange, **settings: int) -> Fetcher:
    settings = {"partition_fetch_bytes_max": 300, **settings}
    timeout_ms = settings.pop("poll_timeout_ms", 5_000)
    return Fetcher(Cluster(cluster.brokers(**settings)), ranges, timeout_ms)


def offsets_of(fetched: Fetched) -> list[int]:
    batches = read_batches(fetched.data)
    offsets = (record.offset for batch in batches for record in read_records(batch))
    return [offset for offset in offsets if offset >= fetched.start]


def read_all(fetcher: Fetcher) -> dict[TopicPartition, list[int]]:
    read: dict[TopicPartition, list[int]] = {}
    for fetched in fetcher:
        read.setdefault(fetched.partition, []).extend(offsets_of(fetched))
    return read


def test_a_range_is_read_in_order_and_once(cluster: ScriptedCluster) -> None:
    assert read_all(reading(cluster, OffsetRange(T0, 0, END))) == {T0: list(range(END))}


def test_a_range_may_start_and_end_inside_batches(cluster: ScriptedCluster) -> None:
    read = read_all(reading(cluster, OffsetRange(T0, 13, 27)))[T0]
    assert read[:14] == list(range(13, 27))
    assert read[-1] < 27 + 2 * BATCH_RECORDS  # What came with the last batches asked for.


def test_an_empty_range_asks_for_nothing(cluster: ScriptedCluster) -> None:
    assert read_all(reading(cluster, OffsetRange(T0, 5, 5))) == {}
    assert not any(isinstance(message, FetchRequest) for message in cluster.asked)


def test_partitions_of_several_leaders_are_read_together(cluster: ScriptedCluster) -> None:
    ranges = [OffsetRange(T0, 0, END), OffsetRange(T1, 20, END)]
    expected = {T0: list(range(END)), T1: list(range(20, END))}
    assert read_all(reading(cluster, *ranges)) == expected


def test_partitions_of_one_leader_share_a_request(cluster: ScriptedCluster) -> None:
    cluster.logs["t"][1].leader = 0
    read_all(reading(cluster, OffsetRange(T0, 0, END), OffsetRange(T1, 0, END)))
    first = next(m for m in cluster.asked if isinstance(m, FetchRequest))
    assert [p.partition for p in first.topics[0].partitions] == [0, 1]


def test_the_next_request_leaves_before_its_data_are_handed_over(
    cluster: ScriptedCluster,
) -> None:
    fetcher = reading(cluster, OffsetRange(T0, 0, END))
    stream = iter(fetcher)
    next(stream)
    (link,) = fetcher._links.values()
    assert link.connection.in_flight_count == 1
    assert sum(1 for _ in stream) > 1


@pytest.mark.parametrize(
    "trouble",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.CORRUPT_MESSAGE,
        Hangup,
    ],
    ids=str,
)
def test_what_passes_is_waited_out(
    cluster: ScriptedCluster, trouble: ErrorCode | type[Hangup]
) -> None:
    fetcher = reading(cluster, OffsetRange(T0, 0, END))
    read: list[int] = []
    for turn, fetched in enumerate(fetcher):
        read += offsets_of(fetched)
        if turn % 2 == 0:
            cluster.troubles.append(trouble)
    assert read == list(range(END))


def test_a_partition_is_followed_to_its_new_leader(cluster: ScriptedCluster) -> None:
    read: list[int] = []
    for fetched in reading(cluster, OffsetRange(T0, 0, END)):
        read += offsets_of(fetched)
        cluster.logs["t"][0].leader = 1
    assert read == list(range(END))


def test_a_partition_outlives_the_broker_that_led_it(cluster: ScriptedCluster) -> None:
    read: list[int] = []
    for fetched in reading(cluster, OffsetRange(T0, 0, END)):
        read += offsets_of(fetched)
        cluster.logs["t"][0].leader = 1
        cluster.stop(0)
    assert read == list(range(END))


def test_offsets_that_are_gone_are_named(cluster: ScriptedCluster) -> None:
    cluster.logs["t"][0].start = 50
    with pytest.raises(OffsetOutOfRange, match="t-0 has no offset 10"):
        read_all(reading(cluster, OffsetRange(T0, 10, END)))


def test_what_no_retry_helps_against_is_final(cluster: ScriptedCluster) -> None:
    cluster.troubles.append(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    with pytest.raises(BrokerRefused, match="t-0 from offset 0 on: TOPIC_AUTHORIZATION_FAILED"):
        read_all(reading(cluster, OffsetRange(T0, 0, END)))


def test_offsets_that_never_come_are_given_up(cluster: ScriptedCluster) -> None:
    fetcher = reading(cluster, OffsetRange(T0, 0, END + 5), poll_timeout_ms=100)
    with pytest.raises(TimedOut, match=f"t-0.*offsets {END} to {END + 5}"):
        read_all(fetcher)


def test_a_partition_that_stays_without_a_leader_is_given_up(cluster: ScriptedCluster) -> None:
    cluster.logs["t"][1].leader = -1
    ranges = [OffsetRange(T0, 0, END + 1), OffsetRange(T1, 0, END)]  # The other never ends.
    with pytest.raises(TimedOut, match=r"t-[01]"):
        read_all(reading(cluster, *ranges, poll_timeout_ms=150))


def test_what_is_left_of_other_partitions_is_known_when_one_fails(
    cluster: ScriptedCluster,
) -> None:
    cluster.logs["t"][1] = Log(leader=0, start=5)
    fetcher = reading(cluster, OffsetRange(T0, 0, END), OffsetRange(T1, 0, 7))
    read: list[int] = []
    with pytest.raises(OffsetOutOfRange, match="t-1 has no offset 0"):
        for fetched in fetcher:
            assert fetched.partition == T0
            read += offsets_of(fetched)
    assert read
    assert fetcher.remaining() == [OffsetRange(T0, len(read), END), OffsetRange(T1, 0, 7)]


def test_a_topic_that_went_away_is_missed(cluster: ScriptedCluster) -> None:
    fetcher = iter(reading(cluster, OffsetRange(T0, 0, END)))
    next(fetcher)
    del cluster.logs["t"]
    cluster.stop(0)
    with pytest.raises(UnknownTopic, match="no topic t"):
        list(fetcher)


def test_aborted_transactions_come_with_the_data(cluster: ScriptedCluster) -> None:
    aborted = [AbortedTransaction(producer_id=7, first_offset=3)]
    cluster.logs["t"][0].aborted = aborted
    fetched = next(iter(reading(cluster, OffsetRange(T0, 0, 5))))
    assert [(a.producer_id, a.first_offset) for a in fetched.aborted] == [(7, 3)]


def test_bytes_that_are_no_batches_are_named(cluster: ScriptedCluster) -> None:
    log = cluster.logs["t"][0]
    log.batches[3] = log.batches[3][:16] + b"\x07" + log.batches[3][17:]  # A magic of the future.
    with pytest.raises(CorruptRecords, match=r"t-0 from offset \d+ on: .* magic 7"):
        read_all(reading(cluster, OffsetRange(T0, 0, END)))


def test_connections_are_kept_for_the_next_reader(cluster: ScriptedCluster) -> None:
    brokers = cluster.brokers()
    for _ in range(3):
        read_all(Fetcher(Cluster(brokers), [OffsetRange(T0, 0, END)]))
    assert len(cluster._sockets[0]) == 1


def test_a_reader_that_stops_early_leaves_no_answer_behind(cluster: ScriptedCluster) -> None:
    brokers = cluster.brokers(partition_fetch_bytes_max=300)
    stream = iter(Fetcher(Cluster(brokers), [OffsetRange(T0, 0, END)]))
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert read_all(Fetcher(Cluster(brokers), [OffsetRange(T0, 0, END)])) == {T0: list(range(END))}


def test_answers_are_received_in_lent_room(cluster: ScriptedCluster) -> None:
    large = write_batch([Record(END, END, None, bytes(100_000))])
    cluster.append("t", 0, large)
    room, lent = memoryview(bytearray(1 << 20)), list[int]()

    def lend(size: int) -> memoryview:
        lent.append(size)
        return room

    known = Cluster(cluster.brokers(partition_fetch_bytes_max=1 << 20))
    for fetched in Fetcher(known, [OffsetRange(T0, 0, END + 1)], lender=lend):
        assert fetched.data.obj is room.obj
        assert offsets_of(fetched) == list(range(END + 1))
    assert len(lent) == 1
    assert read_all(Fetcher(known, [OffsetRange(T0, 0, END + 1)])) == {T0: list(range(END + 1))}
    assert len(lent) == 1, "the connection was given back without the lender"


@pytest.mark.parametrize(
    ("given", "most"), [({}, 4 << 20), ({"partition_fetch_bytes_max": 1 << 20}, 1 << 20)]
)
def test_a_request_asks_for_no_more_than_is_left(
    cluster: ScriptedCluster, given: dict[str, int], most: int
) -> None:
    value_bytes, record_count = 4 << 10, 80 * 16
    cluster.create("bulk", leaders=[0])
    for start in range(0, record_count, 16):
        records = [Record(start + n, 0, None, bytes(value_bytes)) for n in range(16)]
        cluster.append("bulk", 0, write_batch(records))
    known = Cluster(cluster.brokers(**given))
    where = TopicPartition("bulk", 0)
    read = sum(
        len(fetched.data) for fetched in Fetcher(known, [OffsetRange(where, 0, record_count)])
    )
    assert read > value_bytes * record_count
    asked = [
        request.topics[0].partitions[0].partition_max_bytes
        for request in cluster.asked
        if isinstance(request, FetchRequest)
    ]
    assert asked[0] == max(asked) == most
    assert asked[-1] < most
