"""The first batch of a transaction is taken only if its coordinator knows of it (KIP-890)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from odradek.kafka.storage.appending import Appended, append, verification_of
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.producers import Verification
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode
from tests.kafka.storage.disks import new_disk
from tests.kafka.storage.logs import (
    NOW_MS,
    SMALL,
    batch_of,
    end_transaction,
    marker_of,
    new_log,
    put_batch,
    refused,
)


@pytest.fixture
def log() -> Log:
    return new_log(new_disk(), replace(SMALL, is_transaction_verified=True))


def in_transaction(sequence: int = 0, epoch: int = 0) -> bytes:
    return batch_of(
        [b"v"], producer_id=1, producer_epoch=epoch, sequence=sequence, is_transactional=True
    )


def ask(log: Log, data: bytes) -> Verification:
    verification = verification_of(log, data, NOW_MS)
    assert verification is not None
    return verification


def put_verified(log: Log, data: bytes, verification: Verification) -> Appended | Refusal:
    return append(log, data, 0, NOW_MS, verification=verification)


def test_a_batch_without_verification_begins_no_transaction(log: Log) -> None:
    assert refused(log, in_transaction()).code is ErrorCode.INVALID_TXN_STATE
    unnumbered = refused(log, in_transaction(), Origin.COORDINATOR)
    assert unnumbered.code is ErrorCode.INVALID_TXN_STATE
    assert log.end_offset == 0


def test_a_verified_batch_begins_it_and_the_next_need_no_verification(log: Log) -> None:
    verification = ask(log, in_transaction())
    assert isinstance(put_verified(log, in_transaction(), verification), Appended)
    assert verification_of(log, in_transaction(1), NOW_MS) is None
    put_batch(log, in_transaction(1))


def test_after_the_marker_the_next_transaction_needs_its_own(log: Log) -> None:
    verification = ask(log, in_transaction())
    put_verified(log, in_transaction(), verification)
    end_transaction(log, 1, MarkerType.COMMIT)
    again = put_verified(log, in_transaction(1), verification)
    assert isinstance(again, Refusal) and again.code is ErrorCode.INVALID_TXN_STATE
    assert isinstance(put_verified(log, in_transaction(1), ask(log, in_transaction(1))), Appended)


def test_a_marker_that_comes_while_the_coordinator_is_asked_makes_the_answer_void(log: Log) -> None:
    verification = ask(log, in_transaction())
    end_transaction(log, 1, MarkerType.ABORT)
    late = put_verified(log, in_transaction(), verification)
    assert isinstance(late, Refusal) and late.code is ErrorCode.INVALID_TXN_STATE
    newer = ask(log, in_transaction())
    assert newer is not verification
    late = put_verified(log, in_transaction(), verification)
    assert isinstance(late, Refusal)


def test_who_asks_while_another_asks_shares_the_answer(log: Log) -> None:
    assert ask(log, in_transaction()) is ask(log, in_transaction(1))


def test_a_later_batch_does_not_overtake_one_that_is_still_to_be_verified(log: Log) -> None:
    verification = ask(log, in_transaction(3))
    ask(log, in_transaction(0))
    early = put_verified(log, in_transaction(3), verification)
    assert isinstance(early, Refusal) and early.code is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert isinstance(put_verified(log, in_transaction(0), verification), Appended)


def test_a_new_epoch_counts_its_sequences_anew(log: Log) -> None:
    ask(log, in_transaction(0))
    verification = ask(log, in_transaction(2, epoch=1))
    assert (verification.epoch, verification.lowest_sequence) == (1, 2)
    ask(log, in_transaction(0))  # An older epoch changes nothing.
    assert (verification.epoch, verification.lowest_sequence) == (1, 2)


def test_a_copy_is_answered_without_verification(log: Log) -> None:
    put_verified(log, in_transaction(), ask(log, in_transaction()))
    end_transaction(log, 1, MarkerType.COMMIT)
    assert put_batch(log, in_transaction()).is_duplicate


def test_only_data_in_a_transaction_is_verified(log: Log) -> None:
    assert verification_of(log, batch_of([b"v"]), NOW_MS) is None
    assert verification_of(log, batch_of([b"v"], producer_id=1), NOW_MS) is None
    assert verification_of(log, marker_of(1, MarkerType.COMMIT), NOW_MS) is None
    assert verification_of(log, b"nonsense", NOW_MS) is None
    put_batch(log, batch_of([b"v"], producer_id=1))


def test_a_verification_that_nobody_uses_is_forgotten_with_time(log: Log) -> None:
    verification = ask(log, in_transaction())
    log.producers.expire(NOW_MS + 99, 100)
    assert ask(log, in_transaction()) is verification
    log.producers.expire(NOW_MS + 100, 100)
    assert ask(log, in_transaction()) is not verification


def test_where_it_is_turned_off_nothing_is_asked() -> None:
    log = new_log(new_disk())
    assert verification_of(log, in_transaction(), NOW_MS) is None
    put_batch(log, in_transaction())
