"""What a controller orders a broker to do: in every version, and never from the past."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import pytest

from odradek.kafka.server.dispatch import serve_locally
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.codec import decode, encode
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicState,
)
from odradek.kafka.wire.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from odradek.kafka.wire.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from odradek.kafka.wire.schema import Message
from tests.kafka.broker.members import Cluster

M = TypeVar("M", bound=Message)
TOPIC_ID = bytes(range(16))
WHERE = TopicPartition("t", 0)


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster() as made:
        made.start(1)
        yield made


def order(cluster: Cluster, message: Message, version: int, kind: type[M]) -> M:
    """What the broker answers, both by way of their bytes."""
    read = decode(type(message), version, b"".join(encode(message, version)))
    broker = cluster.members[1].broker
    answer = cluster.do(1, lambda: serve_locally(broker, read, version))
    assert isinstance(answer, kind)
    return decode(kind, version, b"".join(encode(answer, version)))


def leadership(
    version: int,
    *,
    leader: int = 1,
    leader_epoch: int = 0,
    controller_epoch: int = 1,
    broker_epoch: int = -1,
    replicas: tuple[int, ...] = (1, 2),
    topic_id: bytes = TOPIC_ID,
) -> LeaderAndIsrRequest:
    state = LeaderAndIsrPartitionState(
        topic_name="t",
        partition_index=0,
        controller_epoch=1,
        leader=leader,
        leader_epoch=leader_epoch,
        isr=list(replicas),
        partition_epoch=0,
        replicas=list(replicas),
        is_new=leader_epoch == 0,
    )
    is_grouped = version >= 2
    topic = LeaderAndIsrTopicState(topic_name="t", topic_id=topic_id, partition_states=[state])
    return LeaderAndIsrRequest(
        controller_id=2,
        controller_epoch=controller_epoch,
        broker_epoch=broker_epoch,
        ungrouped_partition_states=[] if is_grouped else [state],
        topic_states=[topic] if is_grouped else [],
        live_leaders=[],
    )


def lead(cluster: Cluster, version: int = 7, **other: int) -> ErrorCode:
    """Order the broker to lead; the error of the partition, or else of the request."""
    message = leadership(version, **other)  # type: ignore[arg-type]
    answer = order(cluster, message, version, LeaderAndIsrResponse)
    errors = [*answer.partition_errors]
    errors += [it for topic in answer.topics for it in topic.partition_errors]
    if not errors:
        return ErrorCode(answer.error_code)
    return ErrorCode(errors[0].error_code)


def stopping(
    version: int, *, leader_epoch: int = -1, delete: bool = False, controller_epoch: int = 1
) -> StopReplicaRequest:
    states = [
        StopReplicaPartitionState(
            partition_index=0, leader_epoch=leader_epoch, delete_partition=delete
        )
    ]
    grouped = [StopReplicaTopicState(topic_name="t", partition_states=states)]
    old = [StopReplicaTopicV1(name="t", partition_indexes=[0])]
    oldest = [StopReplicaPartitionV0(topic_name="t", partition_index=0)]
    return StopReplicaRequest(
        controller_id=2,
        controller_epoch=controller_epoch,
        delete_partitions=delete and version < 3,
        ungrouped_partitions=oldest if version == 0 else [],
        topics=old if 1 <= version < 3 else [],
        topic_states=grouped if version >= 3 else [],
    )


def stop(cluster: Cluster, version: int = 4, **other: int) -> ErrorCode:
    message = stopping(version, **other)  # type: ignore[arg-type]
    answer = order(cluster, message, version, StopReplicaResponse)
    (error,) = answer.partition_errors
    return ErrorCode(error.error_code)


@pytest.mark.parametrize("version", range(8))
def test_a_broker_leads_what_it_is_told_to_in_every_version(cluster: Cluster, version: int) -> None:
    assert lead(cluster, version) == ErrorCode.NONE
    partition = cluster.members[1].broker.partitions.leader("t", 0)
    assert not isinstance(partition, ErrorCode)
    assert (partition.leader_id, partition.leader_epoch) == (1, 0)


@pytest.mark.parametrize("version", range(5))
def test_a_broker_stops_and_deletes_what_it_is_told_to_in_every_version(
    cluster: Cluster, version: int
) -> None:
    member = cluster.members[1]
    lead(cluster)
    assert stop(cluster, version) == ErrorCode.NONE
    assert member.broker.partitions.get("t", 0) is None
    assert member.directories.find(WHERE) is not None
    assert stop(cluster, version, delete=True) == ErrorCode.NONE
    assert member.directories.find(WHERE) is None


def test_a_broker_follows_whom_it_is_told_to(cluster: Cluster) -> None:
    assert lead(cluster, leader=2) == ErrorCode.NONE
    found = cluster.members[1].broker.partitions.leader("t", 0)
    assert found is ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_broker_does_not_follow_what_it_holds_no_replica_of(cluster: Cluster) -> None:
    message = leadership(7, leader=2, replicas=(2, 3))
    answer = order(cluster, message, 7, LeaderAndIsrResponse)
    error = answer.topics[0].partition_errors[0].error_code
    assert error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_an_older_leader_epoch_is_not_obeyed(cluster: Cluster) -> None:
    assert lead(cluster, leader_epoch=5) == ErrorCode.NONE
    assert lead(cluster, leader_epoch=4) == ErrorCode.STALE_CONTROLLER_EPOCH
    assert stop(cluster, leader_epoch=4) == ErrorCode.FENCED_LEADER_EPOCH
    assert stop(cluster, leader_epoch=5) == ErrorCode.NONE
    lead(cluster, leader_epoch=6)
    assert stop(cluster, leader_epoch=-2, delete=True) == ErrorCode.NONE


def test_a_topic_of_the_same_name_with_another_id_is_another(cluster: Cluster) -> None:
    assert lead(cluster) == ErrorCode.NONE
    message = leadership(7, leader_epoch=1, topic_id=bytes(range(1, 17)))
    answer = order(cluster, message, 7, LeaderAndIsrResponse)
    error = answer.topics[0].partition_errors[0].error_code
    assert error == ErrorCode.INCONSISTENT_TOPIC_ID


def test_orders_of_a_controller_that_was_replaced_are_refused(cluster: Cluster) -> None:
    assert lead(cluster, controller_epoch=9) == ErrorCode.NONE
    assert lead(cluster, controller_epoch=8) == ErrorCode.STALE_CONTROLLER_EPOCH
    stopped = order(cluster, stopping(4, controller_epoch=8), 4, StopReplicaResponse)
    assert stopped.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    update = UpdateMetadataRequest(controller_id=2, controller_epoch=8, live_brokers=[])
    updated = order(cluster, update, 8, UpdateMetadataResponse)
    assert updated.error_code == ErrorCode.STALE_CONTROLLER_EPOCH
    assert 1 in cluster.members[1].metadata.brokers


def test_orders_for_an_earlier_life_are_refused(cluster: Cluster) -> None:
    epoch = cluster.members[1].keeper.epoch
    assert lead(cluster, broker_epoch=epoch - 1) == ErrorCode.STALE_BROKER_EPOCH
    assert lead(cluster, broker_epoch=epoch) == ErrorCode.NONE
    # The controller may know of our registration before its answer has reached us.
    assert lead(cluster, broker_epoch=epoch + 1, leader_epoch=1) == ErrorCode.NONE


def test_a_broker_whose_disk_failed_says_so(cluster: Cluster) -> None:
    lead(cluster)
    member = cluster.members[1]
    (directory,) = member.directories.online

    async def fail() -> None:
        member.broker.partitions.fail_directory(directory, OSError("gone"))

    cluster.do(1, fail)
    assert lead(cluster, leader_epoch=1) == ErrorCode.KAFKA_STORAGE_ERROR
    assert stop(cluster) == ErrorCode.KAFKA_STORAGE_ERROR
