"""Batch queries against a scripted cluster: limits, loss, columns and tasks."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from odradek.kafka.client.errors import OffsetOutOfRange, TimedOut, UnknownTopic
from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.messages.fetch import AbortedTransaction, FetchRequest
from odradek.spark.arrow.errors import UnreadableBatch
from odradek.spark.data_loss import DataLost
from odradek.spark.option_errors import InvalidOptions
from odradek.spark.reader import StartAfterEnd
from odradek.spark.resolving import NoMatchingOffset, WrongPartitions
from tests.kafka.client.scripted import ScriptedCluster
from tests.spark.asking import TYPES, fill, offsets, read, reader, rows_of, schema_of, source


@pytest.fixture
def cluster() -> Iterator[ScriptedCluster]:
    """Topic t with offsets 0 to 20 and 0 to 10, a record each second."""
    with ScriptedCluster(brokers=2) as scripted:
        scripted.create("t", leaders=[0, 1])
        fill(scripted, 0, 0, 20)
        fill(scripted, 1, 0, 10)
        yield scripted


def span(start: int, end: int) -> list[int]:
    return list(range(start, end))


def test_everything_is_read_by_default(cluster: ScriptedCluster) -> None:
    rows = read(cluster)
    assert offsets(rows) == {"t-0": span(0, 20), "t-1": span(0, 10)}
    assert list(rows[0]) == [name for name in TYPES if name != "headers"]
    assert rows[3]["key"] == b"k3" and rows[3]["value"] == b"v3"


def test_headers_come_when_asked_for(cluster: ScriptedCluster) -> None:
    assert list(read(cluster, includeHeaders="true")[0]) == list(TYPES)


def test_columns_can_be_chosen(cluster: ScriptedCluster) -> None:
    rows = read(cluster, columns="offset, value", assign='{"t":[1]}')
    assert rows[2] == {"offset": 2, "value": b"v2"}


def test_a_schema_by_the_user_may_be_a_part_of_ours(cluster: ScriptedCluster) -> None:
    narrow_schema = schema_of(source(cluster, columns="value"))
    made = source(cluster).reader(narrow_schema)
    assert list(rows_of(made, made.partitions())[0]) == ["value"]


def test_columns_that_we_do_not_have_are_refused(cluster: ScriptedCluster) -> None:
    with pytest.raises(InvalidOptions, match="columns=value,price: must be some of key, value"):
        source(cluster, columns="value,price").schema()
    wrong = schema_of(source(cluster, columns="value"))
    wrong.fields[0].dataType = TYPES["offset"]
    with pytest.raises(InvalidOptions, match="column value bigint: there is value binary"):
        source(cluster).reader(wrong)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"startingOffsets": '{"t":{"0":15,"1":-2}}'}, {"t-0": (15, 20), "t-1": (0, 10)}),
        ({"endingOffsets": '{"t":{"0":3,"1":-1}}'}, {"t-0": (0, 3), "t-1": (0, 10)}),
        ({"startingTimestamp": "5000"}, {"t-0": (5, 20), "t-1": (5, 10)}),
        ({"endingTimestamp": "15000"}, {"t-0": (0, 15), "t-1": (0, 10)}),
        ({"startingOffsetsByTimestamp": '{"t":{"0":10000,"1":5000}}'},
         {"t-0": (10, 20), "t-1": (5, 10)}),
        ({"startingTimestamp": "15000", "startingOffsetsByTimestampStrategy": "latest"},
         {"t-0": (15, 20)}),
        ({"assign": '{"t":[1]}'}, {"t-1": (0, 10)}),
        ({"subscribePattern": "[a-z]"}, {"t-0": (0, 20), "t-1": (0, 10)}),
        ({"subscribePattern": "nothing-like-it"}, {}),
    ],
    ids=str,
)  # fmt: skip
def test_limits_and_topics_are_honoured(
    cluster: ScriptedCluster, options: dict[str, str], expected: dict[str, tuple[int, int]]
) -> None:
    found = offsets(read(cluster, **options))
    assert found == {partition: span(*ends) for partition, ends in expected.items()}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"startingOffsets": '{"t":{"0":1}}'}, WrongPartitions, "exactly the partitions"),
        ({"endingOffsets": '{"t":{"0":1,"1":1,"2":1}}'}, WrongPartitions, "exactly the partit"),
        ({"startingTimestamp": "15000"}, NoMatchingOffset, "t-1 at 15000 ms"),
        ({"startingOffsets": '{"t":{"0":9,"1":0}}', "endingOffsets": '{"t":{"0":8,"1":1}}'},
         StartAfterEnd, "t-0 is to be read from offset 9 to 8"),
        ({"subscribe": "t,u"}, UnknownTopic, "no topic u"),
        ({"assign": '{"t":[0,7]}'}, UnknownTopic, "no partition t-7"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_read_is_said_before_any_task(
    cluster: ScriptedCluster, options: dict[str, str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        reader(cluster, **options).partitions()
    assert not any(isinstance(asked, FetchRequest) for asked in cluster.asked)


def test_large_partitions_are_cut_into_tasks(cluster: ScriptedCluster) -> None:
    made = reader(cluster, maxRecordsPerPartition="7")
    tasks = list(made.partitions())
    assert len(tasks) == 5
    assert offsets(rows_of(made, tasks)) == {"t-0": span(0, 20), "t-1": span(0, 10)}
    assert len(reader(cluster, minPartitions="6").partitions()) == 6


def test_small_partitions_share_a_task_if_asked_for(cluster: ScriptedCluster) -> None:
    made = reader(cluster, minRecordsPerPartition="100")
    tasks = list(made.partitions())
    assert len(tasks) == 1
    assert offsets(rows_of(made, tasks)) == {"t-0": span(0, 20), "t-1": span(0, 10)}


def test_loss_in_one_partition_spares_the_others_of_its_task(cluster: ScriptedCluster) -> None:
    cluster.logs["t"][1].leader = 0
    cluster.create("u", leaders=[0])
    fill(cluster, 0, 0, 30, topic="u")
    made = reader(
        cluster,
        subscribe="t,u",
        minRecordsPerPartition="100",
        failOnDataLoss="false",
        startingOffsets='{"t":{"0":0,"1":0},"u":{"0":0}}',
    )
    tasks = made.partitions()
    cluster.logs["t"][0].start = 10
    expected = {"t-0": span(10, 20), "t-1": span(0, 10), "u-0": span(0, 30)}
    assert offsets(rows_of(made, tasks)) == expected
    del cluster.logs["t"]
    assert offsets(rows_of(made, tasks)) == {"u-0": span(0, 30)}


def test_a_query_over_nothing_is_empty(cluster: ScriptedCluster) -> None:
    from pyspark.sql.datasource import InputPartition

    cluster.create("empty", leaders=[0])
    made = reader(cluster, subscribe="empty")
    assert list(made.partitions()) == []
    assert rows_of(made, [InputPartition(None)]) == []  # What Spark makes of no task.


def test_data_that_aged_out_fail_the_query(cluster: ScriptedCluster) -> None:
    cluster.logs["t"][0].start = 10
    with pytest.raises(DataLost, match=r"t-0 has no offset 0\..*failOnDataLoss") as raised:
        read(cluster, startingOffsets='{"t":{"0":0,"1":0}}')
    assert isinstance(raised.value.__context__, OffsetOutOfRange)


def test_data_that_aged_out_are_skipped_if_one_may(
    cluster: ScriptedCluster, caplog: pytest.LogCaptureFixture
) -> None:
    cluster.logs["t"][0].start = 10
    with caplog.at_level(logging.WARNING):
        rows = read(cluster, startingOffsets='{"t":{"0":0,"1":0}}', failOnDataLoss="false")
    assert offsets(rows) == {"t-0": span(10, 20), "t-1": span(0, 10)}
    assert "t-0 has no offset 0" in caplog.text


def test_a_topic_made_anew_gives_what_it_has_if_one_may(cluster: ScriptedCluster) -> None:
    made = reader(cluster, failOnDataLoss="false", startingOffsets='{"t":{"0":12,"1":0}}')
    tasks = made.partitions()
    cluster.create("t", leaders=[0, 1])
    fill(cluster, 0, 0, 5)
    fill(cluster, 1, 0, 10)
    assert offsets(rows_of(made, tasks)) == {"t-1": span(0, 10)}


def test_a_topic_that_is_gone_fails_the_query_unless_it_may(cluster: ScriptedCluster) -> None:
    strict, lenient = reader(cluster), reader(cluster, failOnDataLoss="false")
    tasks = strict.partitions()
    del cluster.logs["t"]
    with pytest.raises(DataLost, match="the cluster has no topic t"):
        rows_of(strict, tasks)
    assert rows_of(lenient, tasks) == []


def test_offsets_that_never_come_fail_the_query(cluster: ScriptedCluster) -> None:
    options = {"endingOffsets": '{"t":{"0":25,"1":10}}', "kafkaConsumer_pollTimeoutMs": "60"}
    with pytest.raises(TimedOut, match=r"t-0.*offsets 20 to 25"):
        read(cluster, **options)


def test_a_corrupt_batch_fails_the_query_with_its_offset(cluster: ScriptedCluster) -> None:
    batch = bytearray(cluster.logs["t"][0].batches[2])
    batch[-2] ^= 1
    cluster.logs["t"][0].batches[2] = bytes(batch)
    with pytest.raises(UnreadableBatch, match="t-0, batch from offset 10 on: checksum"):
        read(cluster)
    assert len(read(cluster, kafka_check_crcs="false")) == 30


def test_aborted_transactions_are_left_out_of_committed_reads(cluster: ScriptedCluster) -> None:
    cluster.create("x", leaders=[0])
    fill(cluster, 0, 0, 5, "x", Envelope(producer_id=3, producer_epoch=0, is_transactional=True))
    fill(cluster, 0, 5, 8, "x")
    cluster.logs["x"][0].aborted = [AbortedTransaction(producer_id=3, first_offset=0)]
    committed = read(cluster, subscribe="x", kafka_isolation_level="read_committed")
    assert offsets(committed) == {"x-0": span(5, 8)}
    assert next(m for m in cluster.asked if isinstance(m, FetchRequest)).isolation_level == 1
