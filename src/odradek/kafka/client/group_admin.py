"""Consumer groups, for administrators: which there are, who is in them, how far they are."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import BrokerRefused, TopicPartition
from odradek.kafka.client.identity import GROUP, Coordinated
from odradek.kafka.wire.codec import read
from odradek.kafka.wire.messages.consumer_protocol import ConsumerProtocolAssignment
from odradek.kafka.wire.messages.delete_groups import DeleteGroupsRequest, DeleteGroupsResponse
from odradek.kafka.wire.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.kafka.wire.messages.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from odradek.kafka.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from odradek.kafka.wire.schema import Message
from odradek.runtime.errors import ProtocolError

NOT_COMMITTED = -1
VERSION = Struct(">h")


def list_groups(cluster: Cluster) -> list[ListedGroup]:
    """All groups, each from the broker that coordinates it."""
    found: list[ListedGroup] = []
    cluster.topics()
    for address in cluster.addresses():
        with cluster.brokers.lend(address) as connection:
            answer = connection.request(ListGroupsRequest(), ListGroupsResponse)
        if answer.error_code:
            raise BrokerRefused(f"groups of {address}", answer.error_code)
        found += answer.groups
    return sorted(found, key=lambda it: it.group_id)


def describe_group(cluster: Cluster, group_id: str) -> DescribedGroup:
    """State and members. A group that nobody knows is Dead, says Kafka."""
    request = DescribeGroupsRequest(groups=[group_id])
    answer = Coordinated(cluster, GROUP, group_id).ask(
        "the state", request, DescribeGroupsResponse, _describe_error
    )
    if code := _describe_error(answer):
        raise BrokerRefused(f"group {group_id}", code)
    return answer.groups[0]


def _describe_error(answer: DescribeGroupsResponse) -> int:
    return answer.groups[0].error_code


def all_committed(cluster: Cluster, group_id: str) -> dict[TopicPartition, int]:
    """All that a group has committed."""
    request = OffsetFetchRequest(group_id=group_id, topics=None)
    answer = Coordinated(cluster, GROUP, group_id).ask(
        "offsets", request, OffsetFetchResponse, lambda it: it.error_code
    )
    if answer.error_code:
        raise BrokerRefused(f"offsets of group {group_id}", answer.error_code)
    return {
        TopicPartition(topic.name, one.partition_index): one.committed_offset
        for topic in answer.topics
        for one in topic.partitions
        if one.committed_offset != NOT_COMMITTED
    }


def delete_group(cluster: Cluster, group_id: str) -> None:
    """Forget a group and its offsets; refused while it has members."""
    request = DeleteGroupsRequest(groups_names=[group_id])
    answer: DeleteGroupsResponse = Coordinated(cluster, GROUP, group_id).ask(
        "the end", request, DeleteGroupsResponse, _delete_error
    )
    if code := _delete_error(answer):
        raise BrokerRefused(f"deleting group {group_id}", code)


def _delete_error(answer: DeleteGroupsResponse) -> int:
    return answer.results[0].error_code


def assigned_to(member: DescribedGroupMember) -> Iterator[TopicPartition]:
    """The partitions that a consumer has; none if it speaks another protocol."""
    data = bytes(member.member_assignment)
    if len(data) < VERSION.size:
        return
    (version,) = VERSION.unpack_from(data)
    newest: type[Message] = ConsumerProtocolAssignment
    version = min(version, newest.__wire__.versions.last)
    try:
        assignment, _ = read(ConsumerProtocolAssignment, version, data, VERSION.size)
    except ProtocolError:
        return
    for topic in assignment.assigned_partitions:
        yield from (TopicPartition(topic.topic, number) for number in topic.partitions)
