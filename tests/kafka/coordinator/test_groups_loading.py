"""Groups come back from their log, and go when leadership does."""

from __future__ import annotations

from struct import pack

import pytest

from odradek.kafka.coordinator.members import Client
from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_groups import DeletableGroupResult
from odradek.kafka.wire.messages.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from odradek.kafka.wire.messages.offset_commit_records import OffsetCommitKey, OffsetCommitValue
from odradek.kafka.wire.records import Record, read_records
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError
from tests.kafka.coordinator.group_stage import SESSION_MS, Stage
from tests.kafka.wire.golden_records import LOGS

APACHE = LOGS["kafka __consumer_offsets-0/00000000000000000000.log"]


def versioned(message: Message, version: int) -> bytes:
    return pack(">h", version) + b"".join(encode(message, version))


def log_of(*records: tuple[bytes | None, bytes | None]) -> list[bytes]:
    stored = [Record(number, 5, key, value) for number, (key, value) in enumerate(records)]
    return [bytes(write_batch(stored))]


def test_a_group_is_there_again_after_a_restart() -> None:
    stage = Stage().loaded()
    first, second = stage.stable_group(2)
    stage.commit({("t", 0): 7}, member_id=first, generation=2, metadata="note")
    after = stage.restarted()
    assert after.shard.describe_group("g") == stage.shard.describe_group("g")
    assert after.fetched(("t", 0))[0].metadata == "note"
    assert after.heartbeat(second, 2) == ErrorCode.NONE
    assert after.synced(after.ask_sync(second, 2)).assignment == f"work of {second}".encode()


def test_loaded_members_have_a_session_timeout_to_be_heard_of() -> None:
    stage = Stage().loaded()
    first, _ = stage.stable_group(2)
    stage.now_ms += 10 * SESSION_MS
    after = stage.restarted()
    after.pass_ms(SESSION_MS - 1)
    assert after.heartbeat(first, 2) == ErrorCode.NONE
    after.pass_ms(1)
    assert after.heartbeat(first, 2) == ErrorCode.REBALANCE_IN_PROGRESS
    assert [m.member_id for m in after.joined(after.ask_join(first)).members] == [first]


def test_a_rebalance_goes_on_after_a_restart_with_the_generation_counted_on() -> None:
    stage = Stage().loaded()
    ids = stage.stable_group(3)
    after = stage.restarted()
    generation = stage.shard.desk.groups["g"].generation_id
    both = (("range", b"r"), ("sticky", b"s"))
    assert after.rejoin_all(ids, protocols=both) == generation + 1


def test_a_log_of_apache_is_loaded() -> None:
    stage = Stage(log=[bytes(APACHE)]).loaded()
    group = stage.shard.describe_group("g1")
    assert (group.group_state, group.protocol_data) == ("Stable", "range")
    assert group.members[0].group_instance_id == "inst1"
    # A transaction wrote 3 before these were committed, and was committed after them.
    assert stage.offset("t2", 0, group="g1") == 1
    assert stage.offset("t2", 1, group="g1") == 80
    assert stage.shard.desk.groups["g1"].topics == frozenset({"t2"})
    assert not stage.shard.desk.groups["g1"].offsets.transactional


def test_the_same_story_is_written_as_apache_wrote_it() -> None:
    theirs = [bytes(batch.data) for batch in read_batches(memoryview(bytes(APACHE)))]
    stage = Stage().loaded()
    stage.shard.desk.new_uuid = lambda: "bb1f6ccd-21c7-4242-a984-e28fe3b8d3cb"
    member_id = join_as_librdkafka(stage)
    commit_as_librdkafka(stage, member_id, 1794725632880)
    stage.now_ms = 1794725632943
    stage.ask_txn_commit({("t2", 0): 3}, producer_id=0, group="g1")
    commit_as_librdkafka(stage, member_id, 1794725632953, delay_ms=1)
    group, first, transactional, second = stage.log
    assert [group, first, second] == [theirs[0], theirs[1], theirs[3]]
    # Kafka read its clock twice here, and the request has no place for a time.
    ours, apaches = Batch(memoryview(transactional)), Batch(memoryview(theirs[2]))
    assert Envelope.of(ours) == Envelope.of(apaches)
    assert [r.key for r in read_records(ours)] == [r.key for r in read_records(apaches)]


def join_as_librdkafka(stage: Stage) -> str:
    metadata = b"\0\3\0\0\0\1\0\2t2\0\0\0\0\0\0\0\0\xff\xff\xff\xff\0\0"
    assignment = b"\0\0\0\0\0\1\0\2t2\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0"
    stage.now_ms = 1794725632722
    token = stage.ask_join(
        group="g1",
        instance="inst1",
        protocols=(("range", metadata),),
        session_ms=45_000,
        rebalance_ms=300_000,
        client=Client("rdkafka", "/127.0.0.1"),
    )
    member_id = stage.joined(token).member_id
    stage.now_ms = 1794725632730
    stage.ask_sync(member_id, 1, {member_id: assignment}, group="g1", instance="inst1")
    return member_id


def commit_as_librdkafka(stage: Stage, member_id: str, now_ms: int, delay_ms: int = 2) -> None:
    stage.now_ms = now_ms
    stage.commit(
        {("t2", 0): 1, ("t2", 1): 80},
        group="g1",
        member_id=member_id,
        generation=1,
        leader_epoch=0,
        timestamp_ms=now_ms - delay_ms,
    )


def test_records_of_every_older_version_are_loaded() -> None:
    member = MemberMetadata(
        member_id="m",
        client_id="c",
        client_host="/h",
        session_timeout=6000,
        subscription=b"s",
        assignment=b"a",
    )
    for version in range(5):
        group = GroupMetadataValue(
            protocol_type="consumer", generation=4, protocol="range", leader="m", members=[member]
        )
        offset = OffsetCommitValue(offset=8, metadata="x", commit_timestamp=1)
        offset_key = OffsetCommitKey(group="g", topic="t", partition=0)
        log = log_of(
            (versioned(GroupMetadataKey(group="g"), 2), versioned(group, version)),
            (versioned(offset_key, min(version, 1)), versioned(offset, version)),
        )
        stage = Stage(log=log).loaded()
        assert stage.heartbeat("m", 4) == ErrorCode.NONE
        assert stage.offset() == 8
        timeout_ms = stage.shard.desk.groups["g"].rebalance_timeout_ms
        assert timeout_ms == (6000 if version == 0 else -1)


def test_records_of_groups_of_the_newer_protocol_are_left_alone() -> None:
    stage = Stage(log=log_of((pack(">h", 3) + b"new", b"whatever"))).loaded()
    assert stage.shard.list_groups([], []) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, b""),
        (b"\0", b""),
        (versioned(GroupMetadataKey(group="g"), 2), b"\0\3\0"),
        (versioned(GroupMetadataKey(group="g"), 2), b"\0\x09"),
        (versioned(OffsetCommitKey(group="g", topic="t", partition=0), 1), b""),
    ],
)
def test_records_that_make_no_sense_are_refused(key: bytes | None, value: bytes) -> None:
    stage = Stage(log=log_of((key, value)))
    with pytest.raises(ProtocolError):
        stage.loaded()


def test_a_tombstone_of_a_group_leaves_offsets_that_are_still_in_the_log() -> None:
    stage = Stage().loaded()
    (member_id,) = stage.stable_group(1)
    stage.commit({("t", 0): 7}, member_id=member_id, generation=1)
    key = versioned(GroupMetadataKey(group="g"), 2)
    stage.write(write_batch([Record(0, 5, key, None)]))
    after = stage.restarted()
    assert (after.state(), after.offset()) == ("Empty", 7)


def test_when_leadership_goes_all_who_wait_are_sent_elsewhere() -> None:
    stage = Stage().loaded()
    first, _ = stage.stable_group(2)
    joining = stage.ask_join(first)
    leader, other = stage.stable_group(2, group="syncing")
    joins = [stage.ask_join(each, group="syncing") for each in (leader, other)]
    generation = stage.joined(joins[0]).generation_id
    stage.commit({("t", 0): 1}, group="old")
    stage.is_holding = True
    syncs = [stage.ask_sync(each, generation, group="syncing") for each in (other, leader)]
    committing = stage.ask_commit({("t", 0): 1}, group="simple")
    deleting = stage.ask_delete("old")
    stage.unload()
    elsewhere = ErrorCode.NOT_COORDINATOR
    assert stage.joined(joining).error_code == elsewhere
    assert {stage.synced(token).error_code for token in syncs} == {elsewhere}
    assert stage.commit_errors(committing) == {elsewhere}
    assert stage.answer(deleting, DeletableGroupResult).error_code == elsewhere
    assert stage.deadline_ms is None


def test_a_shard_that_was_unloaded_answers_nothing_else_any_more() -> None:
    stage = Stage().loaded()
    (member_id,) = stage.stable_group(1)
    stage.is_holding = True
    stage.ask_commit({("t", 0): 1}, member_id=member_id, generation=1)
    stage.unload()
    answered = len(stage.answers)
    stage.settle()
    assert len(stage.answers) == answered
    elsewhere = ErrorCode.NOT_COORDINATOR
    assert stage.heartbeat(member_id, 1) == elsewhere
    assert stage.joined(stage.ask_join(member_id)).error_code == elsewhere
    assert stage.synced(stage.ask_sync(member_id, 1)).error_code == elsewhere
    assert stage.leave((member_id, None)) == [elsewhere]
    assert stage.commit({("t", 0): 1}) == {elsewhere}
    assert stage.shard.describe_group("g").error_code == elsewhere
    stage.expire()
    stage.forget(("t", 0))
    stage.end_transaction(is_commit=True)
    assert not stage.held
