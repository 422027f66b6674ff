"""A shard of the transaction coordinator, request by request."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.producer_ids import ProducerIds
from odradek.kafka.coordinator.transactions import TransactionShard
from odradek.kafka.coordinator.txn_records import decode_value, encode_tombstone
from odradek.kafka.coordinator.txn_settings import DEFAULTS, TransactionShardSettings
from odradek.kafka.coordinator.txn_state import Claim, State
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode as E
from odradek.kafka.wire.messages.init_producer_id import InitProducerIdRequest
from tests.kafka.coordinator.txn_coordinator import (
    NOW_MS,
    P0,
    P1,
    P2,
    TIMEOUT_MS,
    Coordinator,
    init_request,
    new_ids,
)

S = State
ABORT_MS, EXPIRE_MS = DEFAULTS.abort_interval_ms, DEFAULTS.expire_interval_ms
WEEK_MS = DEFAULTS.id_expiration_ms


@pytest.fixture
def tx() -> Coordinator:
    """A coordinator that knows the producer 1000, epoch 0, of "tx"."""
    coordinator = Coordinator()
    coordinator.init()
    return coordinator


def states_logged(coordinator: Coordinator) -> list[State]:
    return [decode_value("tx", record.value).state for record in coordinator.log if record.value]


# InitProducerId.


def test_a_new_id_is_answered_once_it_is_in_the_log() -> None:
    coordinator = Coordinator()
    coordinator.ask_init(init_request())
    assert coordinator.is_silent
    coordinator.commit()
    answer = coordinator.answer
    assert (answer.token, answer.code) == ("init", E.NONE)
    assert (answer.producer_id, answer.producer_epoch) == (1000, 0)
    assert states_logged(coordinator) == [S.EMPTY]


def test_each_new_producer_has_the_next_epoch(tx: Coordinator) -> None:
    assert [tx.init().producer_epoch for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("timeout_ms", [0, -1, DEFAULTS.timeout_max_ms + 1])
def test_a_timeout_beyond_the_largest_is_refused(tx: Coordinator, timeout_ms: int) -> None:
    assert tx.init(timeout_ms=timeout_ms).code is E.INVALID_TRANSACTION_TIMEOUT
    assert tx.init(timeout_ms=DEFAULTS.timeout_max_ms).code is E.NONE


@pytest.mark.parametrize(
    "request_",
    [init_request(""), init_request(producer_id=5), init_request(producer_epoch=5)],
)
def test_half_a_name_is_an_invalid_request(
    tx: Coordinator, request_: InitProducerIdRequest
) -> None:
    tx.ask_init(request_)
    assert tx.answer.code is E.INVALID_REQUEST


def test_without_a_block_of_ids_the_client_tries_again() -> None:
    coordinator = Coordinator(ids=ProducerIds())
    assert coordinator.init().code is E.COORDINATOR_LOAD_IN_PROGRESS
    assert coordinator.shard.held == {}


def test_an_open_transaction_is_aborted_before_a_new_producer_starts(tx: Coordinator) -> None:
    tx.add(P0)
    zombie = tx.claim()
    tx.ask_init(init_request())
    assert tx.is_silent
    tx.commit()
    assert tx.answer.code is E.CONCURRENT_TRANSACTIONS
    [markers] = tx.markers
    assert (markers.type, markers.producer_epoch) == (MarkerType.ABORT, 1)
    assert tx.init().code is E.CONCURRENT_TRANSACTIONS
    tx.finish()
    assert tx.init().producer_epoch == 2
    assert tx.add(P0, claim=zombie) is E.PRODUCER_FENCED
    assert tx.end(claim=zombie) is E.PRODUCER_FENCED


def test_a_fence_shuts_out_the_producer_at_once(tx: Coordinator) -> None:
    tx.add(P0)
    zombie = tx.claim()
    tx.ask_init(init_request())
    tx.ask_end(claim=zombie)
    assert tx.answer.code is E.PRODUCER_FENCED


def test_a_fence_that_was_not_logged_is_tried_again_with_the_same_epoch(tx: Coordinator) -> None:
    tx.add(P0)
    for _ in range(3):
        tx.ask_init(init_request())
        tx.fail(E.NOT_ENOUGH_REPLICAS)
        assert tx.answer.code is E.COORDINATOR_NOT_AVAILABLE
        assert (tx.state, tx.transaction().producer_epoch) == (S.ONGOING, 1)
    tx.init()
    assert tx.markers[0].producer_epoch == 1
    tx.finish()
    tx.init()
    tx.add(P0)
    tx.init()
    assert tx.markers[0].producer_epoch == 3  # Later fences have epochs of their own again.


def test_an_id_whose_first_record_failed_keeps_its_producer_id() -> None:
    coordinator = Coordinator()
    coordinator.ask_init(init_request())
    coordinator.fail(E.NOT_LEADER_OR_FOLLOWER)
    answer = coordinator.answer
    assert (answer.code, answer.producer_id, answer.producer_epoch) == (E.NOT_COORDINATOR, -1, -1)
    assert coordinator.init().producer_id == 1000


# One transaction.


@pytest.mark.parametrize("is_commit", [True, False])
def test_a_transaction_goes_its_way(tx: Coordinator, is_commit: bool) -> None:
    assert tx.add(P0, P1) is E.NONE
    assert tx.end(is_commit=is_commit) is E.NONE
    [markers] = tx.markers
    assert markers.type is (MarkerType.COMMIT if is_commit else MarkerType.ABORT)
    assert markers.partitions == (P0, P1)
    assert (markers.producer_id, markers.producer_epoch, markers.coordinator_epoch) == (1000, 0, 0)
    tx.finish()
    prepare, complete = (
        (S.PREPARE_COMMIT, S.COMPLETE_COMMIT) if is_commit else (S.PREPARE_ABORT, S.COMPLETE_ABORT)
    )
    assert states_logged(tx) == [S.EMPTY, S.ONGOING, prepare, complete]
    assert tx.end(is_commit=is_commit) is E.NONE
    assert tx.end(is_commit=not is_commit) is E.INVALID_TXN_STATE


def test_an_end_is_answered_before_its_markers_are_written(tx: Coordinator) -> None:
    tx.add(P0)
    assert tx.end() is E.NONE
    assert tx.end() is E.CONCURRENT_TRANSACTIONS
    assert tx.end(is_commit=False) is E.CONCURRENT_TRANSACTIONS
    assert tx.add(P1) is E.CONCURRENT_TRANSACTIONS
    assert tx.state is S.PREPARE_COMMIT


def test_no_marker_leaves_before_the_decision_is_committed(tx: Coordinator) -> None:
    tx.add(P0)
    tx.ask_end()
    assert tx.markers == []
    tx.fail(E.REQUEST_TIMED_OUT)
    assert tx.answer.code is E.COORDINATOR_NOT_AVAILABLE
    assert (tx.markers, tx.state) == ([], S.ONGOING)
    assert tx.end(is_commit=False) is E.NONE


def test_partitions_that_are_in_already_cost_no_record(tx: Coordinator) -> None:
    tx.add(P0, P1)
    before = len(tx.log)
    assert tx.add(P1) is E.NONE
    assert len(tx.log) == before
    assert tx.add(P1, P2) is E.NONE
    assert tx.transaction().partitions == {P0, P1, P2}


def test_a_failed_addition_leaves_the_transaction_as_it_was(tx: Coordinator) -> None:
    tx.ask_add(P0)
    assert tx.shard.verify_partitions(tx.claim(), [P0]) == {P0: E.TRANSACTION_ABORTABLE}
    tx.fail(E.NOT_ENOUGH_REPLICAS_AFTER_APPEND)
    assert tx.answer.code is E.COORDINATOR_NOT_AVAILABLE
    assert tx.state is S.EMPTY
    assert tx.add(P0) is E.NONE


def test_a_transaction_without_partitions_ends_without_markers(tx: Coordinator) -> None:
    tx.add()
    tx.end()
    assert tx.markers == []
    tx.commit()
    assert tx.state is S.COMPLETE_COMMIT


def test_verification_tells_which_partitions_are_in(tx: Coordinator) -> None:
    tx.add(P0)
    codes = tx.shard.verify_partitions(tx.claim(), [P0, P1])
    assert codes == {P0: E.NONE, P1: E.TRANSACTION_ABORTABLE}
    unknown = Claim("who", 1, 1)
    assert tx.shard.verify_partitions(unknown, [P0]) == {P0: E.INVALID_PRODUCER_ID_MAPPING}
    assert tx.shard.verify_partitions(Claim("", 1, 1), [P0]) == {P0: E.INVALID_REQUEST}


def test_an_unknown_id_has_no_transaction(tx: Coordinator) -> None:
    unknown = Claim("who", 1000, 0)
    assert tx.add(P0, claim=unknown) is E.INVALID_PRODUCER_ID_MAPPING
    assert tx.end(claim=unknown) is E.INVALID_PRODUCER_ID_MAPPING
    assert tx.end(claim=Claim("", 1000, 0)) is E.INVALID_REQUEST


# Markers.


def test_only_failed_markers_are_sent_again_and_not_at_once(tx: Coordinator) -> None:
    tx.add(P0, P1, P2)
    tx.end()
    [first] = tx.markers
    tx.markers.clear()
    codes = {P0: E.NONE, P1: E.NOT_LEADER_OR_FOLLOWER, P2: E.NETWORK_EXCEPTION}
    tx.shard.markers_answered(first.number, codes, tx.now_ms)
    tx.gather()
    assert tx.markers == []
    assert tx.transaction().partitions == {P1, P2}
    assert tx.shard.next_deadline_ms == tx.now_ms + DEFAULTS.retry_ms
    tx.pass_time(DEFAULTS.retry_ms)
    [second] = tx.markers
    assert (second.number, second.partitions) == (first.number, (P1, P2))
    tx.finish()
    assert tx.state is S.COMPLETE_COMMIT


def test_a_partition_of_an_old_format_or_a_deleted_topic_needs_no_marker(tx: Coordinator) -> None:
    tx.add(P0, P1)
    tx.end()
    [markers] = tx.markers
    codes = {P0: E.UNSUPPORTED_FOR_MESSAGE_FORMAT}
    tx.shard.markers_answered(markers.number, codes, tx.now_ms)
    tx.shard.partitions_gone(markers.number, [P1], tx.now_ms)
    tx.gather()
    tx.commit()
    assert tx.state is S.COMPLETE_COMMIT


@pytest.mark.parametrize("code", [E.INVALID_PRODUCER_EPOCH, E.TRANSACTION_COORDINATOR_FENCED])
def test_a_coordinator_that_is_fenced_sends_no_more_markers(tx: Coordinator, code: E) -> None:
    tx.add(P0, P1)
    tx.end()
    tx.answer_markers(code)
    tx.pass_time(DEFAULTS.retry_ms)
    assert (tx.markers, tx.appends, tx.state) == ([], [], S.PREPARE_COMMIT)


def test_late_answers_of_a_transaction_never_touch_the_next(tx: Coordinator) -> None:
    tx.add(P0)
    tx.end()
    [first] = tx.markers
    tx.finish()
    tx.add(P0, P1)
    tx.end(is_commit=False)
    tx.shard.markers_answered(first.number, {P0: E.NONE, P1: E.NONE}, tx.now_ms)
    tx.shard.partitions_gone(first.number, [P0, P1], tx.now_ms)
    assert tx.transaction().partitions == {P0, P1}
    tx.shard.appended(1, tx.now_ms)
    tx.shard.append_failed(1, E.NOT_COORDINATOR, tx.now_ms)
    tx.gather()
    assert (tx.appends, tx.is_silent) == ([], True)


def test_a_late_end_of_an_older_epoch_never_touches_the_next_transaction(tx: Coordinator) -> None:
    tx.add(P0)
    late = tx.claim()
    tx.init()
    tx.finish()
    tx.init()
    tx.add(P1)
    for is_commit in (True, False):
        assert tx.end(is_commit=is_commit, claim=late) is E.PRODUCER_FENCED
    assert tx.state is S.ONGOING


def test_the_end_is_noted_however_often_that_fails(tx: Coordinator) -> None:
    tx.add(P0)
    tx.end()
    tx.answer_markers()
    for code in (E.REQUEST_TIMED_OUT, E.NOT_ENOUGH_REPLICAS, E.NOT_LEADER_OR_FOLLOWER):
        tx.fail(code)
        assert tx.appends == []
        tx.pass_time(DEFAULTS.retry_ms)
        assert len(tx.appends) == 1
    assert tx.init().code is E.CONCURRENT_TRANSACTIONS
    tx.commit()
    assert tx.state is S.COMPLETE_COMMIT


# Time.


def test_a_transaction_that_is_open_too_long_is_aborted_under_a_new_epoch(tx: Coordinator) -> None:
    tx.add(P0)
    zombie = tx.claim()
    assert tx.shard.next_deadline_ms == NOW_MS + TIMEOUT_MS + ABORT_MS
    tx.pass_time(TIMEOUT_MS)
    assert tx.appends == []
    tx.pass_time(ABORT_MS)
    tx.commit()
    assert tx.is_silent
    assert (tx.markers[0].type, tx.markers[0].producer_epoch) == (MarkerType.ABORT, 1)
    assert tx.end(claim=zombie) is E.PRODUCER_FENCED
    tx.finish()
    assert tx.state is S.COMPLETE_ABORT
    assert tx.end(claim=zombie) is E.PRODUCER_FENCED
    assert tx.init().producer_epoch == 2


def test_the_time_of_a_transaction_begins_with_it_not_with_the_one_before(tx: Coordinator) -> None:
    tx.add(P0)
    tx.pass_time(TIMEOUT_MS - 1)
    tx.end()
    tx.finish()
    tx.add(P0)
    tx.pass_time(ABORT_MS * 2)
    assert (tx.appends, tx.state) == ([], S.ONGOING)
    tx.pass_time(TIMEOUT_MS)
    assert len(tx.appends) == 1


def test_an_abort_that_could_not_be_logged_is_tried_at_the_next_look(tx: Coordinator) -> None:
    tx.add(P0)
    tx.pass_time(TIMEOUT_MS + ABORT_MS)
    tx.fail(E.NOT_ENOUGH_REPLICAS)
    assert tx.shard.next_deadline_ms == tx.now_ms + ABORT_MS
    tx.pass_time(ABORT_MS)
    tx.commit()
    assert tx.markers[0].producer_epoch == 1


def test_what_is_being_decided_does_not_time_out(tx: Coordinator) -> None:
    tx.add(P0)
    tx.ask_end()
    tx.pass_time(TIMEOUT_MS + ABORT_MS)
    assert len(tx.appends) == 1
    tx.commit()
    assert tx.markers[0].type is MarkerType.COMMIT
    tx.pass_time(TIMEOUT_MS + ABORT_MS)
    assert tx.appends == []


def test_an_id_that_is_not_used_for_a_week_is_forgotten(tx: Coordinator) -> None:
    tx.pass_time(WEEK_MS - EXPIRE_MS)
    assert tx.appends == []
    tx.pass_time(EXPIRE_MS)
    [append] = tx.appends
    assert append.records == (encode_tombstone("tx"),)
    assert tx.init().code is E.CONCURRENT_TRANSACTIONS
    assert tx.shard.held == {}
    assert tx.shard.next_deadline_ms is None
    assert tx.init().producer_id == 1001


def test_an_id_in_use_is_not_forgotten(tx: Coordinator) -> None:
    tx.pass_time(WEEK_MS - EXPIRE_MS)
    tx.init()
    tx.pass_time(EXPIRE_MS)
    assert tx.appends == []
    tx.pass_time(WEEK_MS)
    assert len(tx.appends) == 1


def test_a_tombstone_that_failed_is_written_later(tx: Coordinator) -> None:
    tx.pass_time(WEEK_MS)
    tx.fail(E.NOT_ENOUGH_REPLICAS)
    assert tx.shard.next_deadline_ms == tx.now_ms + EXPIRE_MS
    assert tx.init().code is E.NONE


def test_many_ids_are_forgotten_in_batches_that_the_topic_takes() -> None:
    settings = TransactionShardSettings(batch_bytes_max=1000)
    coordinator = Coordinator(settings=settings)
    for number in range(100):
        coordinator.ask_init(init_request(f"tx-{number}"))
    coordinator.commit()
    coordinator.pass_time(WEEK_MS)
    assert 1 < len(coordinator.appends) < 20
    coordinator.commit()
    assert coordinator.shard.held == {}


def test_ticks_look_at_nothing_that_is_not_due() -> None:
    coordinator = Coordinator(ids=new_ids())
    for number in range(50):
        coordinator.ask_init(init_request(f"tx-{number}"))
    coordinator.commit()
    coordinator.pass_time(TIMEOUT_MS * 10)
    assert coordinator.appends == []
    assert coordinator.shard.next_deadline_ms == NOW_MS + WEEK_MS


# Loading and unloading.


@pytest.mark.parametrize("is_commit", [True, False])
def test_the_next_coordinator_finishes_what_is_decided(tx: Coordinator, is_commit: bool) -> None:
    tx.add(P0, P1)
    tx.end(is_commit=is_commit)
    [before] = tx.markers
    after = Coordinator(tx.log, epoch=1)
    [markers] = after.markers
    assert (markers.type, markers.partitions) == (before.type, before.partitions)
    assert markers.coordinator_epoch == 1
    after.finish()
    assert after.state is (S.COMPLETE_COMMIT if is_commit else S.COMPLETE_ABORT)


def test_answers_to_the_coordinator_before_mean_nothing_to_the_next(tx: Coordinator) -> None:
    tx.add(P0)
    tx.end()
    after = Coordinator(tx.log, epoch=1)
    for number in range(tx.markers[0].number + 1):
        codes = {P0: E.TRANSACTION_COORDINATOR_FENCED}
        after.shard.markers_answered(number, codes, NOW_MS)
        after.shard.append_failed(number, E.NOT_LEADER_OR_FOLLOWER, NOW_MS)
    after.finish()
    assert after.state is S.COMPLETE_COMMIT


def test_the_next_coordinator_ends_what_is_open_too_long(tx: Coordinator) -> None:
    tx.add(P0)
    after = Coordinator(tx.log, epoch=1, now_ms=NOW_MS + TIMEOUT_MS * 2)
    after.pass_time(ABORT_MS)
    after.commit()
    assert after.markers[0].type is MarkerType.ABORT


def test_while_loading_clients_try_again_and_afterwards_go_elsewhere() -> None:
    shard = TransactionShard(0, new_ids())
    claim = Claim("tx", 1, 1)

    def codes() -> set[E]:
        shard.init_producer_id("init", init_request(), NOW_MS)
        shard.add_partitions("add", claim, [P0], NOW_MS)
        shard.end("end", claim, is_commit=True, now_ms=NOW_MS)
        verified = shard.verify_partitions(claim, [P0])
        return {answer.code for answer in shard.take_effects().answers} | set(verified.values())

    assert codes() == {E.COORDINATOR_LOAD_IN_PROGRESS}
    shard.unload()
    assert codes() == {E.NOT_COORDINATOR}


def test_who_waits_when_a_shard_is_unloaded_is_told_so(tx: Coordinator) -> None:
    tx.ask_add(P0)
    [append] = tx.appends
    tx.shard.unload()
    tx.gather()
    assert tx.answer.code is E.NOT_COORDINATOR
    tx.shard.appended(append.number, tx.now_ms)
    tx.shard.tick(tx.now_ms + WEEK_MS)
    effects = tx.shard.take_effects()
    assert (effects.appends, effects.answers, effects.markers) == ([], [], [])
    assert tx.shard.next_deadline_ms is None


def test_a_record_of_an_unknown_key_version_is_left_alone() -> None:
    shard = TransactionShard(0, new_ids())
    shard.apply(b"\0\7later", b"\0\7later")
    assert shard.held == {}


def test_an_append_says_when_and_for_how_long(tx: Coordinator) -> None:
    tx.now_ms += 5
    tx.ask_add(TopicPartition("__consumer_offsets", 3))
    [append] = tx.appends
    assert (append.timestamp_ms, append.timeout_ms) == (NOW_MS + 5, TIMEOUT_MS)
