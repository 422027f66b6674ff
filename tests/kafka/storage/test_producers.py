"""Sequences, epochs and transactions of producers, as one partition sees them."""

from __future__ import annotations

import pytest

from odradek.kafka.storage.errors import CorruptSnapshot
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.producers import SEQUENCE_MAX
from odradek.kafka.storage.snapshots import decode, encode
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import (
    NOW_MS,
    batch_of,
    end_transaction,
    get_committed,
    marker_of,
    new_log,
    open_log,
    put,
    put_batch,
    records_in,
    refused,
)


@pytest.fixture
def log() -> Log:
    return new_log(new_disk())


def numbered(sequence: int, count: int = 1, *, epoch: int = 0, producer_id: int = 1) -> bytes:
    values = [b"v"] * count
    return batch_of(values, producer_id=producer_id, producer_epoch=epoch, sequence=sequence)


def in_transaction(sequence: int, producer_id: int = 1, *, epoch: int = 0) -> bytes:
    return batch_of(
        [b"v"],
        producer_id=producer_id,
        producer_epoch=epoch,
        sequence=sequence,
        is_transactional=True,
    )


def test_the_next_sequence_is_taken(log: Log) -> None:
    put_batch(log, numbered(0, 3))
    assert put_batch(log, numbered(3)).first_offset == 3


def test_a_gap_is_out_of_order(log: Log) -> None:
    put_batch(log, numbered(0, 3))
    assert refused(log, numbered(4)).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.end_offset == 3


def test_a_copy_of_the_last_five_is_answered_with_the_old_offsets(log: Log) -> None:
    for sequence in range(6):
        put_batch(log, numbered(sequence))
    for sequence in range(1, 6):
        again = put_batch(log, numbered(sequence))
        assert (again.first_offset, again.last_offset) == (sequence, sequence)
        assert again.is_duplicate
        assert again.append_time_ms == NOW_MS
    assert log.end_offset == 6


def test_an_older_copy_looks_like_a_gap(log: Log) -> None:
    for sequence in range(6):
        put_batch(log, numbered(sequence))
    assert refused(log, numbered(0)).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_batch_that_ends_like_another_but_begins_elsewhere_is_no_copy(log: Log) -> None:
    put_batch(log, numbered(0, 3))
    assert refused(log, numbered(1, 2)).code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_an_unknown_producer_may_begin_anywhere(log: Log) -> None:
    assert put_batch(log, numbered(77)).first_offset == 0


def test_after_the_largest_sequence_comes_zero(log: Log) -> None:
    put_batch(log, numbered(SEQUENCE_MAX - 1, 2))
    assert put_batch(log, numbered(0)).first_offset == 2


def test_a_sequence_may_wrap_inside_a_batch(log: Log) -> None:
    put_batch(log, numbered(SEQUENCE_MAX, 3))
    assert put_batch(log, numbered(SEQUENCE_MAX, 3)).is_duplicate
    assert put_batch(log, numbered(2)).first_offset == 3


def test_a_new_epoch_begins_at_zero_and_shuts_out_the_old(log: Log) -> None:
    put_batch(log, numbered(0, epoch=1))
    wrong = refused(log, numbered(1, epoch=2))
    assert wrong.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    put_batch(log, numbered(0, epoch=2))
    assert refused(log, numbered(1, epoch=1)).code is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_silent_producer_is_forgotten_unless_its_transaction_is_open(log: Log) -> None:
    put_batch(log, numbered(5))
    put_batch(log, in_transaction(0, producer_id=2))
    log.producers.expire(NOW_MS + 99, 100)
    assert set(log.producers.known) == {1, 2}
    log.producers.expire(NOW_MS + 100, 100)
    assert set(log.producers.known) == {2}
    put_batch(log, numbered(99))


def test_an_open_transaction_holds_back_the_last_stable_offset(log: Log) -> None:
    put(log, b"before")
    put_batch(log, in_transaction(0))
    put(log, b"after")
    log.raise_high_watermark(3)
    assert log.last_stable_offset == 1
    end_transaction(log, 1, MarkerType.COMMIT)
    assert log.last_stable_offset == 1  # The marker is not replicated yet.
    log.raise_high_watermark(4)
    assert log.last_stable_offset == 4


def test_the_oldest_open_transaction_counts(log: Log) -> None:
    for producer_id in (1, 2, 3):
        put_batch(log, in_transaction(0, producer_id))
    end_transaction(log, 1, MarkerType.COMMIT)
    log.raise_high_watermark(log.end_offset)
    assert log.last_stable_offset == 1


def test_readers_of_committed_data_learn_what_was_aborted(log: Log) -> None:
    put_batch(log, in_transaction(0, producer_id=1))
    put_batch(log, in_transaction(0, producer_id=2))
    end_transaction(log, 1, MarkerType.ABORT)
    end_transaction(log, 2, MarkerType.COMMIT)
    put(log, b"plain")
    log.raise_high_watermark(log.end_offset)
    fetched = get_committed(log, 0)
    assert fetched.next_offset == 5
    (aborted,) = fetched.aborted
    assert (aborted.producer_id, aborted.first_offset, aborted.last_offset) == (1, 0, 2)
    assert aborted.last_stable_offset == 1
    assert get_committed(log, 4).aborted == ()


def test_readers_of_committed_data_stop_at_what_is_undecided(log: Log) -> None:
    put(log, b"plain")
    put_batch(log, in_transaction(0))
    log.raise_high_watermark(2)
    assert [record.value for record in records_in(get_committed(log, 0))] == [b"plain"]


def test_aborted_transactions_are_found_in_later_segments(log: Log) -> None:
    put_batch(log, in_transaction(0))
    log.roll(NOW_MS)
    end_transaction(log, 1, MarkerType.ABORT)
    log.raise_high_watermark(2)
    assert [aborted.first_offset for aborted in get_committed(log, 0).aborted] == [0]


def test_inside_a_transaction_all_batches_belong_to_it(log: Log) -> None:
    put_batch(log, in_transaction(0))
    assert refused(log, numbered(1)).code is ErrorCode.INVALID_TXN_STATE


def test_a_marker_of_an_old_epoch_or_coordinator_is_refused(log: Log) -> None:
    put_batch(log, in_transaction(0, epoch=4))
    end_transaction(log, 1, MarkerType.COMMIT, epoch=4, coordinator_epoch=7)
    old_epoch = marker_of(1, MarkerType.ABORT, epoch=3, coordinator_epoch=7)
    assert refused(log, old_epoch, Origin.COORDINATOR).code is ErrorCode.INVALID_PRODUCER_EPOCH
    zombie = marker_of(1, MarkerType.ABORT, epoch=4, coordinator_epoch=6)
    code = refused(log, zombie, Origin.COORDINATOR).code
    assert code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_marker_with_a_higher_epoch_fences_and_restarts_the_sequence(log: Log) -> None:
    put_batch(log, in_transaction(0))
    end_transaction(log, 1, MarkerType.ABORT, epoch=1)
    assert refused(log, in_transaction(1)).code is ErrorCode.INVALID_PRODUCER_EPOCH
    put_batch(log, in_transaction(0, epoch=1))


def test_what_a_coordinator_writes_is_not_numbered(log: Log) -> None:
    data = batch_of([b"offset"], producer_id=1, sequence=-1, is_transactional=True)
    put_batch(log, data, origin=Origin.COORDINATOR)
    put_batch(log, data, origin=Origin.COORDINATOR)
    assert log.end_offset == 2


def test_open_transactions_survive_a_restart() -> None:
    disk = new_disk()
    log = new_log(disk)
    put_batch(log, in_transaction(0))
    put(log, b"x")
    log.close(NOW_MS)
    again = open_log(disk).log
    again.raise_high_watermark(2)
    assert again.last_stable_offset == 0
    assert put_batch(again, in_transaction(0)).is_duplicate


def test_a_damaged_snapshot_is_recognised(log: Log) -> None:
    put_batch(log, numbered(0))
    data = bytearray(encode(log.producers))
    data[20] ^= 1
    for damaged in (bytes(data), data[:5], b""):
        with pytest.raises(CorruptSnapshot):
            decode(bytes(damaged), 1, "path")
