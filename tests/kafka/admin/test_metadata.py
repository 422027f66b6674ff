"""Clients of each version learn of topics what Kafka tells them."""

from __future__ import annotations

import pytest

from odradek.kafka.admin.metadata import Seen, missing_topic, topic_reply
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.metadata import MetadataResponse, MetadataResponsePartition
from odradek.kafka.wire.messages.update_metadata import UpdateMetadataPartitionState

TOPIC_ID = bytes(range(16))
VERSIONS = range(13)


def state(leader: int, replicas: list[int], isr: list[int]) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        topic_name="t",
        partition_index=3,
        controller_epoch=1,
        leader=leader,
        leader_epoch=5,
        isr=isr,
        zk_version=2,
        replicas=replicas,
        offline_replicas=[9],
    )


def seen(version: int) -> Seen:
    """Broker 3 has no listener of this name, broker 9 is down."""
    return Seen.by(version, {1, 2, 3}, {1, 2})


def partition(version: int, leader: int, *replicas: int) -> MetadataResponsePartition:
    told = state(leader, list(replicas), list(replicas))
    (reply,) = topic_reply("t", TOPIC_ID, [told], seen(version)).partitions
    return reply


@pytest.mark.parametrize("version", VERSIONS)
def test_a_partition_with_all_its_replicas_is_told_whole(version: int) -> None:
    reply = partition(version, 2, 2, 1)
    assert (reply.error_code, reply.partition_index, reply.leader_id) == (0, 3, 2)
    assert (reply.leader_epoch, reply.replica_nodes, reply.isr_nodes) == (5, [2, 1], [2, 1])
    assert reply.offline_replicas == [9]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_leader_that_is_down_is_none(version: int) -> None:
    for leader in (9, -1):
        reply = partition(version, leader, 1, 2)
        assert (reply.error_code, reply.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_leader_without_the_listener_has_an_error_of_its_own_since_version_6(
    version: int,
) -> None:
    reply = partition(version, 3, 3, 1)
    expected = ErrorCode.LISTENER_NOT_FOUND if version > 5 else ErrorCode.LEADER_NOT_AVAILABLE
    assert (reply.error_code, reply.leader_id) == (expected, -1)


@pytest.mark.parametrize("version", VERSIONS)
def test_only_version_0_leaves_out_replicas_that_cannot_be_reached(version: int) -> None:
    reply = partition(version, 1, 1, 9)
    if version == 0:
        assert reply.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
        assert (reply.leader_id, reply.replica_nodes, reply.isr_nodes) == (1, [1], [1])
    else:
        assert (reply.error_code, reply.replica_nodes) == (ErrorCode.NONE, [1, 9])


def test_version_0_says_so_if_only_the_isr_is_out_of_reach() -> None:
    (reply,) = topic_reply("t", TOPIC_ID, [state(1, [1], [1, 9])], seen(0)).partitions
    assert (reply.error_code, reply.isr_nodes) == (ErrorCode.REPLICA_NOT_AVAILABLE, [1])


def test_kafkas_own_topics_are_marked() -> None:
    assert topic_reply("__consumer_offsets", TOPIC_ID, [], seen(1)).is_internal
    assert missing_topic("__transaction_state", ErrorCode.LEADER_NOT_AVAILABLE).is_internal
    assert not topic_reply("t", TOPIC_ID, [], seen(1)).is_internal


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_can_be_written(version: int) -> None:
    topics = [
        topic_reply("t", TOPIC_ID, [state(1, [1], [1])], seen(version)),
        missing_topic("u", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
    if version == 12:
        topics.append(missing_topic(None, ErrorCode.UNKNOWN_TOPIC_ID, TOPIC_ID))
    encode(MetadataResponse(brokers=[], topics=topics), version)
