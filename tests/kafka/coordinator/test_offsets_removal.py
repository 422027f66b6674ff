"""Offsets and groups that are deleted, expire, or go with their topic."""

from __future__ import annotations

import pytest

from odradek.kafka.coordinator.group_records import GroupKey, OffsetKey, read_key
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_groups import DeletableGroupResult
from odradek.kafka.wire.records import read_records
from tests.kafka.coordinator.group_stage import Joining, Stage, subscription

T0 = TopicPartition("t", 0)
U0 = TopicPartition("u", 0)
DAY_MS = 24 * 3600 * 1000
RETENTION_MS = 7 * DAY_MS
READS_T = (("range", subscription("t")),)


@pytest.fixture
def stage() -> Stage:
    return Stage().loaded()


def tombstones(stage: Stage) -> list[GroupKey | OffsetKey | None]:
    """What the last batch of the log buries."""
    records = list(read_records(Batch(memoryview(stage.log[-1]))))
    assert all(record.value is None for record in records)
    return [read_key(record.key or b"") for record in records]


def test_an_empty_group_can_be_deleted_with_all_its_offsets(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1)
    stage.commit({T0: 1, U0: 2}, member_id=member_id, generation=1)
    stage.leave((member_id, None))
    assert stage.delete() == ErrorCode.NONE
    assert tombstones(stage) == [OffsetKey("g", T0), OffsetKey("g", U0), GroupKey("g")]
    for each in (stage, stage.restarted()):
        assert (each.state(), each.offset()) == ("Dead", -1)
        assert not each.shard.desk.groups


def test_a_group_with_members_cannot_be_deleted(stage: Stage) -> None:
    stage.stable_group(1)
    assert stage.delete() == ErrorCode.NON_EMPTY_GROUP


def test_a_group_that_is_not_there_cannot_be_deleted(stage: Stage) -> None:
    assert stage.delete() == ErrorCode.GROUP_ID_NOT_FOUND


def test_a_group_is_dead_while_its_tombstone_is_being_written(stage: Stage) -> None:
    stage.commit({T0: 1})
    stage.is_holding = True
    token = stage.ask_delete()
    assert token not in stage.answers
    assert (stage.state(), stage.offset()) == ("Dead", -1)
    unavailable = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert stage.joined(stage.ask_join()).error_code == unavailable
    assert stage.commit({T0: 2}) == {unavailable}
    assert stage.leave(("m", None)) == [unavailable]
    assert stage.delete() == ErrorCode.GROUP_ID_NOT_FOUND
    assert stage.delete_offsets(T0).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    stage.expire()
    stage.settle()
    assert stage.answer(token, DeletableGroupResult).error_code == ErrorCode.NONE
    stage.is_holding = False
    assert stage.commit({T0: 2}) == {ErrorCode.NONE}


def test_a_group_whose_tombstone_cannot_be_written_lives_on(stage: Stage) -> None:
    stage.commit({T0: 1})
    stage.fails_with = ErrorCode.NOT_ENOUGH_REPLICAS
    assert stage.delete() == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert (stage.state(), stage.offset()) == ("Empty", 1)


def test_a_commit_on_its_way_is_deleted_too(stage: Stage) -> None:
    stage.is_holding = True
    stage.ask_commit({T0: 1})
    token = stage.ask_delete()
    stage.settle()
    assert stage.answer(token, DeletableGroupResult).error_code == ErrorCode.NONE
    for each in (stage, stage.restarted()):
        assert each.state() == "Dead"


def test_an_open_transaction_outlives_the_deletion_of_its_group(stage: Stage) -> None:
    """Live and after a restart alike: the marker comes after the tombstone."""
    stage.commit({T0: 1})
    stage.ask_txn_commit({T0: 9})
    assert stage.delete() == ErrorCode.NONE
    assert stage.offset() == -1
    stage.end_transaction(is_commit=True)
    assert stage.offset() == stage.restarted().offset() == 9


def test_offsets_of_an_empty_group_can_be_deleted_one_by_one(stage: Stage) -> None:
    stage.commit({T0: 1, U0: 2})
    response = stage.delete_offsets(T0, ("x", 9))
    assert response.error_code == ErrorCode.NONE
    assert [topic.name for topic in response.topics] == ["t", "x"]
    assert tombstones(stage) == [OffsetKey("g", T0)]
    assert (stage.offset(), stage.offset("u")) == (-1, 2)


def test_the_last_offset_of_an_empty_group_takes_the_group_along(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1)
    stage.commit({T0: 1}, member_id=member_id, generation=1)
    stage.leave((member_id, None))
    stage.delete_offsets(T0)
    assert tombstones(stage) == [OffsetKey("g", T0), GroupKey("g")]
    assert stage.state() == "Dead"


def test_offsets_of_topics_that_members_read_stay(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1, protocols=READS_T)
    stage.commit({T0: 1, U0: 2}, member_id=member_id, generation=1)
    response = stage.delete_offsets(T0, U0)
    errors = {topic.name: topic.partitions[0].error_code for topic in response.topics}
    assert errors == {"t": ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC, "u": ErrorCode.NONE}
    assert (stage.offset(), stage.offset("u")) == (1, -1)


def test_if_subscriptions_cannot_be_read_nothing_is_deleted(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1, protocols=(("range", b"?"),))
    stage.commit({T0: 1}, member_id=member_id, generation=1)
    response = stage.delete_offsets(T0)
    assert response.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC


def test_offsets_of_other_kinds_of_groups_stay_while_they_have_members(stage: Stage) -> None:
    stage.stable_group(1, protocol_type="connect")
    assert stage.delete_offsets(T0).error_code == ErrorCode.NON_EMPTY_GROUP


def test_offsets_are_there_until_their_tombstone_is_in_the_log(stage: Stage) -> None:
    stage.commit({T0: 1, U0: 2})
    stage.fails_with = ErrorCode.REQUEST_TIMED_OUT
    assert stage.delete_offsets(T0).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert stage.offset() == 1


def test_offsets_of_a_simple_consumer_expire_after_their_commit(stage: Stage) -> None:
    stage.commit({T0: 1})
    stage.pass_ms(DAY_MS)
    stage.commit({U0: 2})
    stage.pass_ms(RETENTION_MS - DAY_MS)
    stage.expire()
    assert tombstones(stage) == [OffsetKey("g", T0)]
    stage.pass_ms(DAY_MS)
    stage.expire()
    assert tombstones(stage) == [OffsetKey("g", U0)]
    assert stage.state() == "Dead"


def test_offsets_of_an_empty_group_expire_when_it_has_been_empty_long_enough(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1, session_ms=1_000_000)
    stage.commit({T0: 1}, member_id=member_id, generation=1)
    for _ in range(20 * 24 * 6):
        stage.pass_ms(600_000)
        stage.heartbeat(member_id, 1)
    stage.leave((member_id, None))
    after = stage.restarted()
    for each in (stage, after):
        each.expire()
        each.pass_ms(RETENTION_MS - 1)
        each.expire()
        assert each.offset() == 1
        each.pass_ms(1)
        each.expire()
        assert tombstones(each) == [OffsetKey("g", T0), GroupKey("g")]
        assert each.state() == "Dead"


def test_offsets_of_a_stable_group_expire_if_nobody_reads_the_topic(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1, protocols=READS_T, session_ms=1_800_000)
    stage.commit({T0: 1, U0: 2}, member_id=member_id, generation=1)
    for _ in range(7 * 24 * 6):
        stage.pass_ms(600_000)
        stage.heartbeat(member_id, 1)
    stage.expire()
    assert tombstones(stage) == [OffsetKey("g", U0)]
    assert (stage.state(), stage.offset(), stage.offset("u")) == ("Stable", 1, -1)


def test_no_offset_expires_during_a_rebalance(stage: Stage) -> None:
    how = Joining(session_ms=1_800_000, rebalance_ms=2**31 - 1, protocols=READS_T)
    first, _ = stage.stable_group(2, **how)
    stage.commit({U0: 2}, member_id=first, generation=2)
    for _ in range(8 * 24 * 6):
        stage.pass_ms(600_000)
        for member_id in stage.shard.desk.groups["g"].members:
            stage.heartbeat(member_id, 2)
    stage.ask_join(first, **how)
    assert stage.state() == "PreparingRebalance"
    stage.expire()
    assert stage.offset("u") == 2


def test_a_client_may_set_the_time_to_live_itself(stage: Stage) -> None:
    stage.commit({T0: 1}, version=4, retention_ms=1000)
    after = stage.restarted()
    for each in (stage, after):
        each.pass_ms(999)
        each.expire()
        assert each.offset() == 1
        each.pass_ms(1)
        each.expire()
        assert each.offset() == -1


def test_an_offset_that_is_being_committed_does_not_expire(stage: Stage) -> None:
    stage.commit({T0: 1})
    stage.pass_ms(RETENTION_MS)
    stage.is_holding = True
    stage.ask_commit({T0: 2})
    stage.expire()
    stage.settle()
    assert stage.offset() == 2


def test_an_offset_in_a_transaction_keeps_its_group(stage: Stage) -> None:
    stage.ask_txn_commit({T0: 2})
    stage.pass_ms(2 * RETENTION_MS)
    stage.expire()
    stage.end_transaction(is_commit=True)
    assert stage.offset() == 2


def test_an_empty_group_without_offsets_goes_at_the_next_look(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1)
    stage.leave((member_id, None))
    stage.expire()
    assert tombstones(stage) == [GroupKey("g")]
    assert stage.state() == "Dead"


def test_who_was_just_given_an_id_keeps_its_group(stage: Stage) -> None:
    member_id = stage.new_id()
    stage.expire()
    assert stage.joined(stage.ask_join(member_id)).error_code == ErrorCode.NONE


def test_offsets_go_with_their_topic(stage: Stage) -> None:
    (member_id,) = stage.stable_group(1, protocols=READS_T)
    stage.commit({T0: 1, U0: 2}, member_id=member_id, generation=1)
    stage.commit({T0: 3}, group="h")
    stage.forget(T0)
    assert (stage.offset(), stage.offset("u")) == (-1, 2)
    assert (stage.state(), stage.state("h")) == ("Stable", "Dead")
    after = stage.restarted()
    assert (after.offset(), after.offset("u"), after.state("h")) == (-1, 2, "Dead")
