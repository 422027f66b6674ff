"""Keys and values of `__consumer_offsets`, there and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.kafka.coordinator.group_records import (
    GroupKey,
    OffsetKey,
    read_key,
    read_offset_value,
    read_version,
    write_group_key,
    write_offset_key,
    write_offset_value,
    write_offsets,
)
from odradek.kafka.coordinator.group_subscriptions import subscribed_topics
from odradek.kafka.coordinator.offsets import CommittedOffset
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch_writer import WrittenRecords, write_pairs
from odradek.runtime.errors import ProtocolError
from tests.kafka.coordinator.group_stage import subscription

NAMES = st.text(max_size=20)
INTS = st.integers(-(2**31), 2**31 - 1)
LONGS = st.integers(-(2**63), 2**63 - 1)


@given(NAMES)
def test_a_group_key_comes_back(group_id: str) -> None:
    assert read_key(write_group_key(group_id)) == GroupKey(group_id)


@given(NAMES, NAMES, INTS)
def test_an_offset_key_comes_back(group_id: str, topic: str, number: int) -> None:
    partition = TopicPartition(topic, number)
    assert read_key(write_offset_key(group_id, partition)) == OffsetKey(group_id, partition)


@given(LONGS, INTS, NAMES, LONGS)
def test_an_offset_comes_back(offset: int, epoch: int, metadata: str, time_ms: int) -> None:
    committed = CommittedOffset(offset, epoch, metadata, time_ms)
    data = write_offset_value(committed)
    assert read_version(data) == 3
    assert read_offset_value(data) == committed


def test_an_offset_with_a_time_to_live_is_written_as_version_1_which_has_no_leader_epoch() -> None:
    data = write_offset_value(CommittedOffset(1, 5, "m", 10, expire_timestamp_ms=20))
    assert read_version(data) == 1
    assert read_offset_value(data) == CommittedOffset(1, -1, "m", 10, 20)


COMMITTED = st.builds(
    CommittedOffset, LONGS, INTS, st.just("") | NAMES, LONGS, st.just(-1) | st.integers(0, 9)
)


@given(NAMES, st.dictionaries(st.builds(TopicPartition, NAMES, INTS), COMMITTED))
def test_what_a_commit_appends_is_each_key_and_value_in_its_order(
    group_id: str, commits: dict[TopicPartition, CommittedOffset]
) -> None:
    assert write_offsets(group_id, commits) == one_by_one(group_id, commits)


@pytest.mark.parametrize("count", [63, 64, 65, 8192, 8193])
@pytest.mark.parametrize("name", ["t", "é" * 30])
def test_so_many_offsets_that_their_deltas_grow_longer(name: str, count: int) -> None:
    topics = [name, "other"]
    commits = {
        TopicPartition(topics[number % 7 == 6], number): CommittedOffset(number, 0, "", 1)
        for number in range(count)
    }
    assert write_offsets("g", commits) == one_by_one("g", commits)


def one_by_one(group_id: str, commits: dict[TopicPartition, CommittedOffset]) -> WrittenRecords:
    return write_pairs(
        (write_offset_key(group_id, partition), write_offset_value(committed))
        for partition, committed in commits.items()
    )


@pytest.mark.parametrize("data", [b"", b"\0"])
def test_a_record_without_a_version_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        read_key(data)


def test_subscriptions_of_all_members_are_one_set_of_topics() -> None:
    topics = subscribed_topics([subscription("a", "b"), subscription("b", "c")])
    assert topics == frozenset({"a", "b", "c"})
    assert subscribed_topics([]) == frozenset()


@pytest.mark.parametrize("metadata", [b"", b"\0", b"\0\1\0\0", b"\0\0\x7f\xff\xff\xff"])
def test_a_subscription_that_cannot_be_read_makes_all_unknown(metadata: bytes) -> None:
    assert subscribed_topics([subscription("a"), metadata]) is None
