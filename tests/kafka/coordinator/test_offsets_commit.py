"""OffsetCommit and TxnOffsetCommit: who may, and when it counts."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.groups_desk import Limits
from odradek.kafka.coordinator.offsets_commit import KEPT_NUMBERS, Partitions
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from tests.kafka.coordinator.group_stage import SESSION_MS, START_MS, Stage

T0 = ("t", 0)
T1 = ("t", 1)


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def test_a_consumer_without_a_group_commits_while_the_group_is_empty(stage: Stage) -> None:
    assert stage.commit({T0: 5}) == {ErrorCode.NONE}
    assert stage.offset() == 5
    assert stage.state() == "Empty"


def test_metadata_and_leader_epoch_come_back_as_they_were(stage: Stage) -> None:
    stage.commit({T0: 5}, metadata="half way, größer 😀", leader_epoch=3)
    for each in (stage, stage.restarted()):
        (found,) = each.fetched(T0)
        assert (found.metadata, found.committed_leader_epoch) == ("half way, größer 😀", 3)


def test_metadata_that_is_null_comes_back_empty(stage: Stage) -> None:
    stage.commit({T0: 5}, metadata=None)
    assert stage.fetched(T0)[0].metadata == ""


def test_metadata_is_measured_as_java_does() -> None:
    stage = Stage(Limits(metadata_length_max=4)).loaded()
    assert stage.commit({T0: 1}, metadata="ößéü") == {ErrorCode.NONE}
    assert stage.commit({T0: 2}, metadata="😀😀") == {ErrorCode.NONE}
    assert stage.commit({T0: 3}, metadata="😀😀x") == {ErrorCode.OFFSET_METADATA_TOO_LARGE}
    assert stage.offset() == 2


def test_one_metadata_too_long_does_not_hold_up_the_others() -> None:
    stage = Stage(Limits(metadata_length_max=4)).loaded()
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=number, committed_offset=1, committed_metadata=metadata
        )
        for number, metadata in enumerate(["ok", "too long"])
    ]
    topics = [OffsetCommitRequestTopic(name="t", partitions=partitions)]
    asker = stage.asker(9)
    request = OffsetCommitRequest(group_id="g", topics=topics)
    stage.do(stage.shard.handle_offset_commit(asker, request, stage.now_ms))
    assert isinstance(asker.token, int)
    (topic,) = stage.answer(asker.token, OffsetCommitResponse).topics
    errors = [each.error_code for each in topic.partitions]
    assert errors == [ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE]
    assert [found.committed_offset for found in stage.fetched(T0, T1)] == [1, -1]


def test_members_of_the_generation_may_commit(stage: Stage) -> None:
    leader, _ = stage.stable_group(2)
    assert stage.commit({T0: 5}, member_id=leader, generation=2) == {ErrorCode.NONE}
    assert stage.offset() == 5


def test_a_commit_is_refused_with_the_reason(stage: Stage) -> None:
    leader, _ = stage.stable_group(2)
    assert stage.commit({T0: 5}) == {ErrorCode.UNKNOWN_MEMBER_ID}
    assert stage.commit({T0: 5}, member_id="who", generation=2) == {ErrorCode.UNKNOWN_MEMBER_ID}
    illegal = {ErrorCode.ILLEGAL_GENERATION}
    assert stage.commit({T0: 5}, member_id=leader, generation=1) == illegal
    assert stage.commit({T0: 5}, member_id=leader) == illegal
    assert stage.commit({T0: 5}, group="no", member_id="m", generation=1) == illegal
    assert stage.offset() == -1
    assert stage.state("no") == "Dead"


def test_old_members_commit_while_a_rebalance_is_prepared_but_not_while_it_completes(
    stage: Stage,
) -> None:
    first, second = stage.stable_group(2)
    stage.ask_join(first)
    assert stage.commit({T0: 5}, member_id=second, generation=2) == {ErrorCode.NONE}
    stage.ask_join(second)
    errors = stage.commit({T0: 6}, member_id=second, generation=3)
    assert errors == {ErrorCode.REBALANCE_IN_PROGRESS}
    assert stage.offset() == 5


def test_a_commit_is_a_sign_of_life(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1)
    for _ in range(5):
        stage.pass_ms(SESSION_MS - 1)
        assert stage.commit({T0: 5}, member_id=member_id, generation=1) == {ErrorCode.NONE}
    assert stage.state() == "Stable"


def test_no_offset_is_seen_or_answered_before_it_is_in_the_log(stage: Stage) -> None:
    stage.commit({T0: 5})
    stage.is_holding = True
    token = stage.ask_commit({T0: 6})
    assert token not in stage.answers
    assert stage.offset() == 5
    stage.settle()
    assert stage.commit_errors(token) == {ErrorCode.NONE}
    assert stage.offset() == 6


@pytest.mark.parametrize(
    ("of_the_log", "told"),
    [
        (ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_COORDINATOR),
        (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.REQUEST_TIMED_OUT),
        (ErrorCode.NETWORK_EXCEPTION, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_PRODUCER_EPOCH),
    ],
)
def test_an_offset_that_cannot_be_stored_was_not_committed(
    stage: Stage, of_the_log: ErrorCode, told: ErrorCode
) -> None:
    stage.commit({T0: 5})
    stage.fails_with = of_the_log
    assert stage.commit({T0: 6}) == {told}
    assert stage.commit_errors(stage.ask_txn_commit({T0: 7})) == {told}
    (found,) = stage.fetched(T0, require_stable=True)
    assert (found.committed_offset, found.error_code) == (5, ErrorCode.NONE)


def test_a_group_whose_first_offset_could_not_be_stored_does_not_exist(stage: Stage) -> None:
    stage.fails_with = ErrorCode.REQUEST_TIMED_OUT
    stage.commit({T0: 6})
    assert stage.state() == "Dead"


def test_the_later_of_two_commits_counts(stage: Stage) -> None:
    stage.is_holding = True
    tokens = [stage.ask_commit({T0: 6}), stage.ask_commit({T0: 4})]
    stage.settle_one()
    assert stage.offset() == 6
    assert stage.fetched(T0, require_stable=True)[0].error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    stage.settle()
    assert stage.offset() == 4
    assert all(stage.commit_errors(token) == {ErrorCode.NONE} for token in tokens)


def test_an_empty_group_id_may_keep_offsets(stage: Stage) -> None:
    assert stage.commit({T0: 5}, group="") == {ErrorCode.NONE}
    assert stage.offset(group="") == 5


def test_the_time_of_a_commit_is_ours_unless_version_1_brought_its_own(stage: Stage) -> None:
    stage.commit({T0: 1}, version=1, timestamp_ms=77)
    stage.commit({T1: 1})
    logged = stage.shard.desk.groups["g"].offsets.logged.values()
    assert [each.commit_timestamp_ms for each in logged] == [77, START_MS]


def test_of_a_partition_that_is_named_twice_the_last_word_counts(stage: Stage) -> None:
    topics = [committed_topic("t", {0: 1, 1: 2}), committed_topic("ü", {0: 3})]
    topics.append(committed_topic("t", {1: 4, 2: 5}))
    asker = stage.asker(8)
    request = OffsetCommitRequest(group_id="g", topics=topics)
    stage.do(stage.shard.handle_offset_commit(asker, request, stage.now_ms))
    assert isinstance(asker.token, int)
    answered = stage.answer(asker.token, OffsetCommitResponse).topics
    assert [(it.name, [each.partition_index for each in it.partitions]) for it in answered] == [
        ("t", [0, 1, 2]),
        ("ü", [0]),
    ]
    for each in (stage, stage.restarted()):
        found = each.fetched(T0, T1, ("t", 2), ("ü", 0))
        assert [it.committed_offset for it in found] == [1, 4, 5, 3]


def committed_topic(name: str, offsets: dict[int, int]) -> OffsetCommitRequestTopic:
    partitions = [
        OffsetCommitRequestPartition(
            partition_index=number, committed_offset=offset, committed_metadata=None
        )
        for number, offset in offsets.items()
    ]
    return OffsetCommitRequestTopic(name=name, partitions=partitions)


@pytest.mark.parametrize("number", [-1, 0, 1023, 1024, 2**31 - 1])
def test_partitions_are_what_they_are_named_whether_kept_or_not(number: int) -> None:
    kept = Partitions("t")
    for _ in range(2):
        assert kept[number] == TopicPartition("t", number)
    assert set(kept) == {number} & set(KEPT_NUMBERS)


def test_a_commit_of_nothing_is_answered_with_nothing(stage: Stage) -> None:
    assert stage.commit({}) == set()
    assert not stage.log


def test_an_offset_of_a_transaction_counts_when_the_transaction_commits(stage: Stage) -> None:
    stage.commit({T0: 5})
    assert stage.commit_errors(stage.ask_txn_commit({T0: 9})) == {ErrorCode.NONE}
    assert stage.offset() == 5
    stage.end_transaction(is_commit=True)
    assert stage.offset() == 9
    assert stage.restarted().offset() == 9


def test_an_offset_of_an_aborted_transaction_never_counts(stage: Stage) -> None:
    stage.ask_txn_commit({T0: 9})
    stage.end_transaction(is_commit=False)
    assert stage.offset() == -1
    assert stage.state() == "Dead"
    assert stage.restarted().state() == "Dead"


def test_an_open_transaction_survives_a_change_of_the_coordinator(stage: Stage) -> None:
    stage.ask_txn_commit({T0: 9})
    after = stage.restarted()
    assert after.fetched(T0, require_stable=True)[0].error_code == ErrorCode.UNSTABLE_OFFSET_COMMIT
    after.end_transaction(is_commit=True)
    assert after.offset() == 9


def test_a_late_transaction_does_not_undo_a_commit_after_it(stage: Stage) -> None:
    stage.ask_txn_commit({T0: 9})
    stage.commit({T0: 12})
    stage.end_transaction(is_commit=True)
    assert stage.offset() == 12
    assert stage.restarted().offset() == 12


def test_transactions_of_other_producers_stay_open(stage: Stage) -> None:
    stage.ask_txn_commit({T0: 9}, producer_id=7)
    stage.ask_txn_commit({T1: 3}, producer_id=8)
    stage.end_transaction(7, is_commit=True)
    assert (stage.offset(), stage.offset("t", 1)) == (9, -1)


def test_a_transaction_of_a_member_needs_its_generation(stage: Stage) -> None:
    leader, _ = stage.stable_group(2)

    def errors(member_id: str, generation: int) -> set[int]:
        token = stage.ask_txn_commit({T0: 9}, member_id=member_id, generation=generation)
        return stage.commit_errors(token)

    assert errors(leader, 2) == {ErrorCode.NONE}
    assert errors(leader, 1) == {ErrorCode.ILLEGAL_GENERATION}
    assert errors("who", 2) == {ErrorCode.UNKNOWN_MEMBER_ID}
    assert errors("", -1) == {ErrorCode.NONE}


def test_a_transaction_needs_a_group_id(stage: Stage) -> None:
    token = stage.ask_txn_commit({T0: 9}, group="")
    assert stage.commit_errors(token) == {ErrorCode.INVALID_GROUP_ID}
