from __future__ import annotations

import pytest

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.control import Marker, MarkerType, write_marker
from odradek.kafka.wire.records import Record
from odradek.pipelines.lanes import Lane, Sync, Syncs, read_sync, translate
from odradek.runtime.errors import ProtocolError

LANE = Lane("mirror", TopicPartition("orders", 3), "orders")
OTHER = Lane("mirror", TopicPartition("orders", 4), "orders")


def written(lane: Lane, sync: Sync, offset: int, producer_id: int) -> Batch:
    record = sync.to_record(lane, 0)._replace(offset=offset)
    envelope = Envelope(producer_id=producer_id, producer_epoch=0, is_transactional=True)
    return Batch(memoryview(write_batch([record], envelope)))


def ended(kind: MarkerType, producer_id: int) -> Batch:
    data = write_marker(Marker(kind, 0), producer_id=producer_id, producer_epoch=0, now_ms=0)
    return Batch(memoryview(data))


def test_a_sync_is_read_as_it_was_written() -> None:
    sync = Sync(10, 20, 8, 3, 100, 109)
    assert read_sync(sync.to_record(LANE, 0)) == (LANE.key, sync)


def test_what_is_no_sync_is_an_error_that_names_its_offset() -> None:
    with pytest.raises(ProtocolError, match="offset 7"):
        read_sync(Record(7, 0, b"mirror/orders/3/orders/0", b"{}"))


def test_a_lane_stands_where_its_committed_syncs_end() -> None:
    syncs = Syncs()
    syncs.apply(written(LANE, Sync(0, 10, 10), 0, producer_id=1))
    assert syncs.position(LANE, otherwise=-1) == -1
    syncs.apply(ended(MarkerType.COMMIT, 1))
    assert syncs.position(LANE, otherwise=-1) == 10


def test_a_sync_whose_transaction_was_aborted_does_not_count() -> None:
    syncs = Syncs()
    syncs.apply(written(LANE, Sync(0, 10, 10), 0, producer_id=1))
    syncs.apply(ended(MarkerType.ABORT, 1))
    assert syncs.position(LANE, otherwise=-1) == -1
    assert syncs.pending == {}


def test_what_a_lane_committed_counts_though_another_is_still_at_it() -> None:
    syncs = Syncs()
    syncs.apply(written(OTHER, Sync(0, 5, 5), 0, producer_id=2))
    syncs.apply(written(LANE, Sync(0, 10, 10), 1, producer_id=1))
    syncs.apply(ended(MarkerType.COMMIT, 1))
    assert syncs.position(LANE) == 10
    assert syncs.resume_from(end=3) == 0, "how the other ends will be seen"


def test_offsets_are_translated_exactly_where_both_sides_are_dense() -> None:
    syncs = [Sync(0, 10, 10, 0, 100, 110), Sync(10, 30, 20, 0, 111, 131)]
    found = [translate(syncs, offset) for offset in (0, 9, 10, 29, 30, 99)]
    assert found == [100, 109, 111, 130, 131, 131]


def test_a_reader_never_misses_a_record_where_offsets_have_gaps() -> None:
    cleaned = [Sync(0, 10, 4, 0, 100, 104), Sync(10, 20, 10, 0, 105, 115)]
    assert [translate(cleaned, offset) for offset in (0, 7, 10)] == [100, 100, 105]


def test_nothing_is_translated_before_anything_has_arrived() -> None:
    assert translate([], 5) is None
    assert translate([Sync(0, 3, 0)], 5) is None, "markers only"
    assert translate([Sync(10, 20, 10, 0, 0, 10)], 5) == 0, "from the first that was copied"
