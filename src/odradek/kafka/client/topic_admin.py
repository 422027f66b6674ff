"""Topics and partitions, for administrators: what there is, made, changed, moved, taken away.

A refusal of the cluster is raised as `BrokerRefused`, with the words of the broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Protocol

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.controller import ask_the_controller
from odradek.kafka.client.errors import BrokerRefused, TopicPartition, UnknownTopic
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from odradek.kafka.wire.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from odradek.kafka.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from odradek.kafka.wire.messages.delete_topics import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from odradek.kafka.wire.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    TopicPartitions,
)
from odradek.kafka.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
)
from odradek.kafka.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from odradek.kafka.wire.schema import Message

TIMEOUT_MS = 30_000
NO_ID = bytes(16)
PREFERRED = 0


def describe(cluster: Cluster, names: Iterable[str] | None = None) -> MetadataResponse:
    """Brokers, and topics with their partitions: those named, which must be there, or all."""
    asked = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False)
    answer = cluster.ask_any(request, MetadataResponse)
    for topic in answer.topics:
        if topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            raise UnknownTopic(str(topic.name))
        if topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION:
            raise BrokerRefused(f"topic {topic.name}", topic.error_code)
    return answer


def create_topic(
    cluster: Cluster,
    name: str,
    *,
    partitions: int = -1,
    replicas: int = -1,
    assignment: Mapping[int, Sequence[int]] | None = None,
    configs: Mapping[str, str] | None = None,
    is_dry_run: bool = False,
) -> None:
    """Make a topic (-1: as the cluster's defaults say); return when its partitions are led."""
    given = assignment or {}
    topic = CreatableTopic(
        name=name,
        num_partitions=-1 if given else partitions,
        replication_factor=-1 if given else replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=number, broker_ids=list(ids))
            for number, ids in given.items()
        ],
        configs=[CreatableTopicConfig(name=k, value=v) for k, v in (configs or {}).items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=is_dry_run)
    _have_done(cluster, "creating", request, CreateTopicsResponse, attrgetter("topics"))
    if not is_dry_run:
        cluster.await_topic(name)


def delete_topics(cluster: Cluster, names: Sequence[str]) -> None:
    request = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name, topic_id=NO_ID) for name in names],
        topic_names=list(names),
        timeout_ms=TIMEOUT_MS,
    )
    _have_done(cluster, "deleting", request, DeleteTopicsResponse, attrgetter("responses"))


def add_partitions(cluster: Cluster, name: str, count: int, *, is_dry_run: bool = False) -> None:
    """Let a topic have so many partitions."""
    topic = CreatePartitionsTopic(name=name, count=count, assignments=None)
    request = CreatePartitionsRequest(
        topics=[topic], timeout_ms=TIMEOUT_MS, validate_only=is_dry_run
    )
    results = attrgetter("results")
    _have_done(cluster, "partitions of", request, CreatePartitionsResponse, results)


def move_partitions(
    cluster: Cluster, targets: Mapping[TopicPartition, Sequence[int] | None]
) -> None:
    """Begin to move partitions to other brokers; None calls a move off."""
    topics: dict[str, list[ReassignablePartition]] = {}
    for (topic, partition), ids in targets.items():
        replicas = None if ids is None else list(ids)
        topics.setdefault(topic, []).append(
            ReassignablePartition(partition_index=partition, replicas=replicas)
        )
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_MS,
        topics=[ReassignableTopic(name=name, partitions=it) for name, it in topics.items()],
    )
    answer = ask_the_controller(
        cluster,
        "the reassignment",
        request,
        AlterPartitionReassignmentsResponse,
        lambda said: [said.error_code],
    )
    _check("the reassignment", answer.error_code, answer.error_message)
    for moved in answer.responses:
        for one in moved.partitions:
            what = f"moving {moved.name}-{one.partition_index}"
            _check(what, one.error_code, one.error_message)


def moves_under_way(cluster: Cluster) -> dict[TopicPartition, OngoingPartitionReassignment]:
    """Partitions that are being moved, and where to."""
    request = ListPartitionReassignmentsRequest(timeout_ms=TIMEOUT_MS, topics=None)
    answer = ask_the_controller(
        cluster,
        "reassignments",
        request,
        ListPartitionReassignmentsResponse,
        lambda said: [said.error_code],
    )
    _check("reassignments", answer.error_code, answer.error_message)
    return {
        TopicPartition(topic.name, one.partition_index): one
        for topic in answer.topics
        for one in topic.partitions
    }


def elect_preferred(cluster: Cluster, partitions: Iterable[TopicPartition]) -> list[str]:
    """Let the first of each partition's replicas lead; what could not be, in words."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    request = ElectLeadersRequest(
        election_type=PREFERRED,
        topic_partitions=[TopicPartitions(topic=t, partitions=p) for t, p in topics.items()],
        timeout_ms=TIMEOUT_MS,
    )
    answer = ask_the_controller(
        cluster, "the election", request, ElectLeadersResponse, lambda said: [said.error_code]
    )
    _check("the election", answer.error_code)
    return [
        f"{topic.topic}-{one.partition_id}: {one.error_message or ErrorCode(one.error_code).name}"
        for topic in answer.replica_election_results
        for one in topic.partition_result
        if one.error_code not in (0, ErrorCode.ELECTION_NOT_NEEDED)
    ]


class _Result(Protocol):
    """What became of one topic."""

    name: str | None
    error_code: int
    error_message: str | None


def _have_done(
    cluster: Cluster,
    what: str,
    request: Message,
    response: type[Message],
    results_of: Callable[[Message], Sequence[_Result]],
) -> None:
    """Have the controller do something with topics; the first that is refused is raised."""
    answer = ask_the_controller(
        cluster,
        f"{what} topics",
        request,
        response,
        lambda said: [it.error_code for it in results_of(said)],
    )
    for it in results_of(answer):
        _check(f"{what} {it.name}", it.error_code, it.error_message)


def _check(what: str, code: int, message: str | None = None) -> None:
    if code:
        raise BrokerRefused(what, code, message)
