"""DescribeTransactions and ListTransactions."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_answers import describe, list_all
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.errors import ErrorCode as E
from odradek.kafka.wire.messages.describe_transactions import DescribeTransactionsResponse
from odradek.kafka.wire.messages.list_transactions import ListTransactionsRequest
from tests.kafka.coordinator.txn_coordinator import (
    NOW_MS,
    P0,
    P2,
    TIMEOUT_MS,
    Coordinator,
    init_request,
    new_ids,
)


@pytest.fixture
def tx() -> Coordinator:
    """ "tx" has an open transaction, "idle" has none."""
    coordinator = Coordinator()
    coordinator.init()
    coordinator.add(P0, P2)
    coordinator.ask_init(init_request("idle"))
    coordinator.commit()
    assert coordinator.answer.code is E.NONE
    return coordinator


def listed(
    coordinator: Coordinator,
    states: list[str] | None = None,
    producer_ids: list[int] | None = None,
    duration_ms: int = -1,
) -> list[tuple[str, int, str]]:
    request = ListTransactionsRequest(
        state_filters=states or [],
        producer_id_filters=producer_ids or [],
        duration_filter=duration_ms,
    )
    response = list_all([coordinator.shard], request, coordinator.now_ms)
    assert response.error_code is E.NONE
    found = response.transaction_states
    return [(each.transactional_id, each.producer_id, each.transaction_state) for each in found]


def test_a_transaction_is_described_with_its_partitions(tx: Coordinator) -> None:
    state = describe(tx.shard, "tx")
    assert (state.error_code, state.transaction_state) == (E.NONE, "Ongoing")
    assert (state.producer_id, state.producer_epoch) == (1000, 0)
    assert (state.transaction_timeout_ms, state.transaction_start_time_ms) == (TIMEOUT_MS, NOW_MS)
    assert [(each.topic, each.partitions) for each in state.topics] == [("t", [0, 2])]
    response = DescribeTransactionsResponse(throttle_time_ms=0, transaction_states=[state])
    assert encode(response, 0)


@pytest.mark.parametrize("word", ["PrepareCommit", "CompleteCommit"])
def test_states_have_the_names_that_clients_know(tx: Coordinator, word: str) -> None:
    tx.end()
    if word == "CompleteCommit":
        tx.finish()
    assert describe(tx.shard, "tx").transaction_state == word


def test_what_cannot_be_described_says_why(tx: Coordinator) -> None:
    assert describe(tx.shard, "who").error_code is E.TRANSACTIONAL_ID_NOT_FOUND
    assert describe(tx.shard, "").error_code is E.INVALID_REQUEST
    assert describe(None, "tx").error_code is E.NOT_COORDINATOR
    loading = TransactionShard(0, new_ids())
    assert describe(loading, "tx").error_code is E.COORDINATOR_LOAD_IN_PROGRESS


def test_without_filters_all_are_listed(tx: Coordinator) -> None:
    assert listed(tx) == [("tx", 1000, "Ongoing"), ("idle", 1001, "Empty")]


def test_filters_narrow_the_list(tx: Coordinator) -> None:
    assert [name for name, _, _ in listed(tx, states=["Empty"])] == ["idle"]
    assert [name for name, _, _ in listed(tx, producer_ids=[1000, 5])] == ["tx"]
    assert listed(tx, states=["Empty"], producer_ids=[1000]) == []


def test_a_duration_leaves_out_what_is_younger(tx: Coordinator) -> None:
    tx.now_ms += 10
    assert "tx" in [name for name, _, _ in listed(tx, duration_ms=9)]
    assert "tx" not in [name for name, _, _ in listed(tx, duration_ms=10)]


def test_a_state_that_does_not_exist_is_named_and_matches_nothing(tx: Coordinator) -> None:
    request = ListTransactionsRequest(state_filters=["Sleeping"], producer_id_filters=[])
    response = list_all([tx.shard], request, NOW_MS)
    assert response.unknown_state_filters == ["Sleeping"]
    assert response.transaction_states == []


def test_a_list_waits_until_all_shards_are_loaded(tx: Coordinator) -> None:
    request = ListTransactionsRequest(state_filters=[], producer_id_filters=[])
    loading = TransactionShard(0, new_ids())
    response = list_all([tx.shard, loading], request, NOW_MS)
    assert response.error_code is E.COORDINATOR_LOAD_IN_PROGRESS
    loading.unload()
    assert list_all([tx.shard, loading], request, NOW_MS).error_code is E.NONE
