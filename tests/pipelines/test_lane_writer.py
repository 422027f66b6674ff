"""Lanes on a real broker: whoever dies, and whoever comes in between, nothing is there twice."""

from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from odradek.kafka.client.cluster import shared_cluster
from odradek.kafka.client.errors import KafkaClientError, TopicPartition
from odradek.kafka.client.fetcher import Fetcher, OffsetRange
from odradek.kafka.client.offsets import LATEST, list_offsets
from odradek.kafka.client.producer_settings import ProducerSettings, producer_settings
from odradek.kafka.client.settings import READ_COMMITTED, client_settings
from odradek.kafka.wire.records import Record, read_records
from odradek.pipelines.lane_writer import LaneWriter, Piece
from odradek.pipelines.lanes import Lane, Sync, translate
from odradek.pipelines.mirror_task import Stretch, copy
from odradek.pipelines.pieces import piece_of
from odradek.pipelines.sync_log import Place, SyncLog
from odradek.runtime.clock import wall_clock_ms
from odradek.spark.arrow.selection import select
from tests.kafka.client.topics import Topics

NOWHERE_YET = Place(-1, 0)
PRODUCER_FENCED = "INVALID_PRODUCER_EPOCH|PRODUCER_FENCED"


def settings_of(topics: Topics) -> ProducerSettings:
    return producer_settings({"bootstrap.servers": topics.bootstrap_servers})


@pytest.fixture
def lane(topics: Topics) -> Lane:
    SyncLog(topics.settings).prepare()
    topic = topics.create(name="lane")
    return Lane("test", TopicPartition(f"source-of-{topic}", 0), topic)


def piece(first: int, end: int) -> Piece:
    return piece_of([Record(n, wall_clock_ms(), None, b"%d" % n) for n in range(first, end)])


def committed(topics: Topics, topic: str) -> list[int]:
    """The numbers that readers of committed data find."""
    properties = {
        "bootstrap.servers": topics.bootstrap_servers,
        "isolation.level": "read_committed",
    }
    settings = client_settings(properties)
    assert settings.isolation_level == READ_COMMITTED
    cluster, where = shared_cluster(settings), TopicPartition(topic, 0)
    end = list_offsets(cluster, {where: LATEST})[where] or 0
    ranges = [OffsetRange(where, 0, end)] if end else []
    return [
        int(record.value or b"")
        for fetched in Fetcher(cluster, ranges)
        for run in select(fetched, end)
        for batch in run.batches
        for record in read_records(batch)
    ]


def test_a_lane_is_found_where_it_was_left(topics: Topics, lane: Lane) -> None:
    writer = LaneWriter(lane, settings_of(topics), NOWHERE_YET, first=100)
    assert writer.position == 100
    writer.send(0, piece(0, 5))
    writer.commit(105)
    writer.send(0, piece(5, 7))
    writer.commit(110)
    assert LaneWriter(lane, settings_of(topics), NOWHERE_YET).position == 110
    syncs, places = SyncLog(topics.settings).read([lane])
    assert places[lane].position == 110
    assert LaneWriter(lane, settings_of(topics), places[lane]).position == 110
    assert committed(topics, lane.target) == list(range(7))
    assert [translate(syncs.of(lane), offset) for offset in (100, 104, 105)] == [0, 4, 6]


def test_what_a_dead_writer_left_open_is_undone(topics: Topics, lane: Lane) -> None:
    dead = LaneWriter(lane, settings_of(topics), NOWHERE_YET)
    dead.send(0, piece(0, 5))
    heir = LaneWriter(lane, settings_of(topics), NOWHERE_YET)
    assert heir.position == 0
    heir.send(0, piece(0, 5))
    heir.commit(5)
    assert committed(topics, lane.target) == list(range(5))
    dead.abort()


def test_a_writer_that_was_thought_dead_is_refused(topics: Topics, lane: Lane) -> None:
    ghost = LaneWriter(lane, settings_of(topics), NOWHERE_YET)
    ghost.send(0, piece(0, 5))
    heir = LaneWriter(lane, settings_of(topics), NOWHERE_YET)
    with pytest.raises(KafkaClientError, match=PRODUCER_FENCED):
        ghost.commit(5)
    ghost.abort()
    heir.send(0, piece(0, 3))
    heir.commit(3)
    assert committed(topics, lane.target) == [0, 1, 2]


def test_an_open_lane_does_not_hide_what_another_committed(topics: Topics, lane: Lane) -> None:
    log = SyncLog(topics.settings)
    busy = next(
        other
        for number in range(1000)
        if log.partition_of(other := Lane(f"busy-{number}", lane.source, lane.target))
        == log.partition_of(lane)
    )
    at_it = LaneWriter(busy, settings_of(topics), NOWHERE_YET)
    at_it.send(0, piece(0, 1))
    transaction = at_it._transaction
    assert transaction is not None
    sync = piece_of([Sync(0, 1, 1).to_record(busy, 0)])
    transaction.send(log.partition_of(busy), sync.records, 1, wall_clock_ms())
    transaction.flush()  # Its sync is written, and its end is not in sight.
    writer = LaneWriter(lane, settings_of(topics), NOWHERE_YET)
    writer.send(0, piece(1, 3))
    writer.commit(3)
    assert LaneWriter(lane, settings_of(topics), NOWHERE_YET).position == 3
    at_it.abort()


def test_copies_that_race_and_fail_add_up_to_one(topics: Topics) -> None:
    """The same stretch is copied by several at once; each that comes cuts off those before it."""
    SyncLog(topics.settings).prepare()
    source, target = topics.create(name="raced"), topics.create(name="raced-to")
    topics.append(source, 0, [Record(n, wall_clock_ms(), None, b"%d" % n) for n in range(1000)])
    lane = Lane("race", TopicPartition(source, 0), target)
    stretch = Stretch(lane, NOWHERE_YET, 0, 1000)
    reader = client_settings(
        {"bootstrap.servers": topics.bootstrap_servers, "max.partition.fetch.bytes": "2000"}
    )

    def try_to_copy() -> None:
        with suppress(KafkaClientError):  # Another was quicker, and went on.
            copy(reader, settings_of(topics), stretch, per_transaction=100)

    threads = [threading.Thread(target=try_to_copy) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    copy(reader, settings_of(topics), stretch, per_transaction=100)
    assert committed(topics, target) == list(range(1000))
