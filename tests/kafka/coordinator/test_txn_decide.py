"""Every request in every state, as Kafka 3.9 answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from odradek.kafka.coordinator.txn_decide import (
    Decision,
    Expected,
    decide_add,
    decide_complete,
    decide_end,
    decide_fence,
    decide_init,
    verify,
)
from odradek.kafka.coordinator.txn_state import (
    EPOCH_MAX,
    Claim,
    Held,
    State,
    Transaction,
    created,
)
from odradek.kafka.wire.errors import ErrorCode as E
from tests.kafka.coordinator.txn_coordinator import NOW_MS, P0, P1, TIMEOUT_MS

S = State
KNOWN = Claim("tx", 1000, 5)
LATER_MS = NOW_MS + 7
STATES = [
    S.EMPTY,
    S.ONGOING,
    S.PREPARE_COMMIT,
    S.PREPARE_ABORT,
    S.COMPLETE_COMMIT,
    S.COMPLETE_ABORT,
]
WITH_PARTITIONS = {S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT}


def at(state: State, **fields: int) -> Held:
    partitions = frozenset({P0}) if state in WITH_PARTITIONS else frozenset()
    started_ms = -1 if state is S.EMPTY else NOW_MS
    known = Transaction("tx", 1000, 5, TIMEOUT_MS, state, partitions, started_ms, NOW_MS)
    return Held(replace(known, **fields))  # type: ignore[arg-type]


def init(held: Held, expected: Expected | None = None, new_id: int | None = 2000) -> Decision:
    return decide_init(held, 30_000, expected, lambda: new_id, LATER_MS)


REQUESTS: dict[str, Callable[[Held], Decision]] = {
    "init": init,
    "init, epoch known": lambda held: init(held, Expected(1000, 5)),
    "add a new partition": lambda held: decide_add(held, KNOWN, frozenset({P1}), LATER_MS),
    "add a known partition": lambda held: decide_add(held, KNOWN, frozenset({P0}), LATER_MS),
    "verify a new partition": lambda held: verify(held, KNOWN, P1),
    "verify a known partition": lambda held: verify(held, KNOWN, P0),
    "commit": lambda held: decide_end(held, KNOWN, True, LATER_MS),
    "abort": lambda held: decide_end(held, KNOWN, False, LATER_MS),
}
BUSY = E.CONCURRENT_TRANSACTIONS
WRONG = E.INVALID_TXN_STATE
UNSEEN = E.TRANSACTION_ABORTABLE
# Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, CompleteAbort.
TABLE: dict[str, list[State | E]] = {
    "init": [S.EMPTY, S.PREPARE_ABORT, BUSY, BUSY, S.EMPTY, S.EMPTY],
    "init, epoch known": [S.EMPTY, S.PREPARE_ABORT, BUSY, BUSY, S.EMPTY, S.EMPTY],
    "add a new partition": [S.ONGOING, S.ONGOING, BUSY, BUSY, S.ONGOING, S.ONGOING],
    "add a known partition": [S.ONGOING, E.NONE, BUSY, BUSY, S.ONGOING, S.ONGOING],
    "verify a new partition": [UNSEEN, UNSEEN, BUSY, BUSY, UNSEEN, UNSEEN],
    "verify a known partition": [UNSEEN, E.NONE, BUSY, BUSY, UNSEEN, UNSEEN],
    "commit": [WRONG, S.PREPARE_COMMIT, BUSY, WRONG, E.NONE, WRONG],
    "abort": [WRONG, S.PREPARE_ABORT, WRONG, BUSY, WRONG, E.NONE],
}
CELLS = [
    (request, state, outcome)
    for request, outcomes in TABLE.items()
    for state, outcome in zip(STATES, outcomes, strict=True)
]


@pytest.mark.parametrize(("request_name", "state", "outcome"), CELLS)
def test_a_request_in_a_state(request_name: str, state: State, outcome: State | E) -> None:
    decision = REQUESTS[request_name](at(state))
    if isinstance(decision, Transaction):
        assert decision.state is outcome
    else:
        assert decision is outcome


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("request_name", [name for name in REQUESTS if "verify" not in name])
def test_while_a_move_is_pending_no_other_begins(request_name: str, state: State) -> None:
    held = at(state)
    held.pending = S.ONGOING
    assert REQUESTS[request_name](held) is BUSY


@pytest.mark.parametrize("state", STATES)
def test_a_verification_does_not_mind_what_is_pending(state: State) -> None:
    held = at(state)
    free = verify(held, KNOWN, P0)
    held.pending = S.ONGOING
    assert verify(held, KNOWN, P0) is free


@pytest.mark.parametrize("state", STATES)
def test_another_producer_id_and_another_epoch_are_told_apart(state: State) -> None:
    for claim, code in [
        (Claim("tx", 999, 5), E.INVALID_PRODUCER_ID_MAPPING),
        (Claim("tx", 1000, 4), E.PRODUCER_FENCED),
        (Claim("tx", 1000, 6), E.PRODUCER_FENCED),
    ]:
        assert decide_add(at(state), claim, frozenset({P0}), LATER_MS) is code
        assert decide_end(at(state), claim, True, LATER_MS) is code
        assert verify(at(state), claim, P0) is code


def logged(decision: Decision) -> Transaction:
    assert isinstance(decision, Transaction), decision
    return decision


def test_the_first_epoch_is_zero() -> None:
    held = Held(created("tx", 1000, TIMEOUT_MS, NOW_MS))
    first = logged(init(held))
    assert (first.producer_id, first.producer_epoch) == (1000, 0)
    again = logged(init(held, Expected(77, 3)))  # Its id was forgotten here.
    assert (again.producer_id, again.producer_epoch) == (1000, 0)


@pytest.mark.parametrize("state", [S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT])
def test_a_new_producer_gets_the_next_epoch_and_its_own_timeout(state: State) -> None:
    decision = logged(init(at(state, last_producer_epoch=4)))
    nothing: frozenset[object] = frozenset()
    assert decision == Transaction("tx", 1000, 6, 30_000, S.EMPTY, nothing, -1, LATER_MS, 1000, -1)  # type: ignore[arg-type]


def test_a_producer_that_names_its_epoch_may_ask_twice() -> None:
    first = logged(init(at(S.EMPTY), Expected(1000, 5)))
    assert (first.producer_epoch, first.last_producer_epoch) == (6, 5)
    second = logged(init(Held(first), Expected(1000, 5)))
    assert (second.producer_epoch, second.last_producer_epoch) == (6, 5)


def test_a_producer_that_names_its_epoch_is_shut_out_by_a_new_one() -> None:
    newer = logged(init(at(S.EMPTY)))
    assert init(Held(newer), Expected(1000, 5)) is E.PRODUCER_FENCED
    assert init(at(S.EMPTY), Expected(999, 5)) is E.PRODUCER_FENCED
    assert init(at(S.EMPTY), Expected(1000, 4)) is E.PRODUCER_FENCED
    assert init(at(S.ONGOING), Expected(999, 5)) is E.PRODUCER_FENCED


def test_when_the_epochs_are_used_up_there_is_a_new_id() -> None:
    held = at(S.COMPLETE_COMMIT, producer_epoch=EPOCH_MAX - 1)
    decision = logged(init(held))
    assert (decision.producer_id, decision.producer_epoch) == (2000, 0)
    assert (decision.last_producer_id, decision.last_producer_epoch) == (1000, -1)
    assert init(held, new_id=None) is E.COORDINATOR_LOAD_IN_PROGRESS


def test_a_repeated_request_for_a_new_id_is_known_for_one() -> None:
    used_up = Expected(1000, EPOCH_MAX - 1)
    held = at(S.EMPTY, producer_epoch=EPOCH_MAX - 1)
    first = logged(init(held, used_up))
    assert (first.producer_id, first.producer_epoch, first.last_producer_epoch) == (
        2000,
        0,
        EPOCH_MAX - 1,
    )
    again = logged(init(Held(first), used_up, new_id=3000))
    assert (again.producer_id, again.producer_epoch) == (2000, 0)
    assert init(Held(first), Expected(1000, 4)) is E.PRODUCER_FENCED


def test_the_first_partition_starts_the_clock_and_the_next_does_not() -> None:
    first = logged(decide_add(at(S.COMPLETE_ABORT), KNOWN, frozenset({P0}), LATER_MS))
    assert (first.started_ms, first.updated_ms) == (LATER_MS, LATER_MS)
    second = logged(decide_add(Held(first), KNOWN, frozenset({P1}), LATER_MS + 5))
    assert (second.started_ms, second.updated_ms) == (LATER_MS, LATER_MS + 5)
    assert second.partitions == {P0, P1}


def test_an_id_without_an_epoch_cannot_begin_a_transaction() -> None:
    held = Held(created("tx", 1000, TIMEOUT_MS, NOW_MS))
    decision = decide_add(held, Claim("tx", 1000, -1), frozenset({P0}), NOW_MS)
    assert decision is E.UNKNOWN_SERVER_ERROR


def test_a_fence_is_one_epoch_and_only_one() -> None:
    held = at(S.ONGOING, last_producer_epoch=4)
    fenced = decide_fence(held, LATER_MS)
    assert (fenced.producer_epoch, fenced.last_producer_epoch) == (6, -1)
    assert fenced.partitions == {P0}
    held.has_failed_fence = True
    assert decide_fence(held, LATER_MS).producer_epoch == 5
    last = at(S.ONGOING, producer_epoch=EPOCH_MAX)
    assert decide_fence(last, LATER_MS).producer_epoch == EPOCH_MAX


@pytest.mark.parametrize(
    ("prepared", "complete"),
    [(S.PREPARE_COMMIT, S.COMPLETE_COMMIT), (S.PREPARE_ABORT, S.COMPLETE_ABORT)],
)
def test_a_decision_has_one_end(prepared: State, complete: State) -> None:
    decision = decide_complete(at(prepared).transaction, LATER_MS)
    assert decision.state is complete
    assert decision.partitions == frozenset()
    assert decision.started_ms == NOW_MS
