"""Errors, translated."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.txn_errors import (
    for_producer,
    for_version,
    of_append,
    of_verification,
)
from odradek.kafka.wire.errors import ErrorCode as E


@pytest.mark.parametrize(
    ("code", "heard"),
    [
        (E.REQUEST_TIMED_OUT, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_ENOUGH_REPLICAS_AFTER_APPEND, E.COORDINATOR_NOT_AVAILABLE),
        (E.UNKNOWN_TOPIC_OR_PARTITION, E.COORDINATOR_NOT_AVAILABLE),
        (E.NOT_LEADER_OR_FOLLOWER, E.NOT_COORDINATOR),
        (E.KAFKA_STORAGE_ERROR, E.NOT_COORDINATOR),
        (E.MESSAGE_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.RECORD_LIST_TOO_LARGE, E.UNKNOWN_SERVER_ERROR),
        (E.CORRUPT_MESSAGE, E.CORRUPT_MESSAGE),
    ],
)
def test_a_failed_append_is_the_coordinators_trouble(code: E, heard: E) -> None:
    assert of_append(code) is heard


@pytest.mark.parametrize(("api_key", "first"), [(22, 4), (24, 2), (25, 2), (26, 2)])
def test_old_clients_hear_of_an_invalid_epoch_instead_of_a_fence(api_key: int, first: int) -> None:
    assert for_version(E.PRODUCER_FENCED, api_key, first - 1) is E.INVALID_PRODUCER_EPOCH
    assert for_version(E.PRODUCER_FENCED, api_key, first) is E.PRODUCER_FENCED
    assert for_version(E.NOT_COORDINATOR, api_key, 0) is E.NOT_COORDINATOR


def test_a_producer_hears_of_an_unverified_transaction_as_its_version_can() -> None:
    abortable = E.TRANSACTION_ABORTABLE
    assert of_verification(abortable, knows_abortable=False) is E.INVALID_TXN_STATE
    assert of_verification(abortable, knows_abortable=True) is abortable
    assert of_verification(E.PRODUCER_FENCED, knows_abortable=True) is E.INVALID_PRODUCER_EPOCH
    unheard = of_verification(E.CLUSTER_AUTHORIZATION_FAILED, knows_abortable=True)
    assert unheard is E.INVALID_TXN_STATE


def test_a_producer_tries_again_when_its_transaction_could_not_be_verified_yet() -> None:
    assert for_producer(E.COORDINATOR_LOAD_IN_PROGRESS) is E.NOT_ENOUGH_REPLICAS
    assert for_producer(E.CONCURRENT_TRANSACTIONS) is E.NOT_ENOUGH_REPLICAS
    assert for_producer(E.INVALID_TXN_STATE) is E.INVALID_TXN_STATE
