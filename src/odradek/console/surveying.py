"""Groups, as their coordinators describe them, and how far they are.

All functions block: they are for the threads of `kafka_side`. Each broker is asked twice, whatever
the number of its groups.
"""

from __future__ import annotations

from collections.abc import Mapping

from odradek.console.gatherings import Group, Member
from odradek.console.offset_edits import Place
from odradek.kafka.client.addresses import Address
from odradek.kafka.client.cluster import Cluster
from odradek.kafka.client.errors import ConnectionLost, KafkaClientError, TopicPartition
from odradek.kafka.client.group_admin import all_committed, assigned_to, describe_group
from odradek.kafka.client.offsets import EARLIEST, LATEST, list_offsets
from odradek.kafka.wire.messages.describe_groups import (
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from odradek.kafka.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse

DEAD = "Dead"  # What Kafka says of a group that it does not know.
LAGS_MAX = 100  # Groups whose lag is followed all the time.


def all_groups(cluster: Cluster, known: Mapping[str, Group]) -> dict[str, Group]:
    """All groups. One that was known is only gone if its coordinator, whoever that is, says so."""
    cluster.topics()
    found: dict[str, Group] = {}
    for address in cluster.addresses():
        try:
            found |= {it.name: it for it in groups_of(cluster, address)}
        except ConnectionLost:
            continue
    for name in known.keys() - found.keys():
        found |= still_there(cluster, known[name])
    return dict(sorted(found.items()))


def still_there(cluster: Cluster, group: Group) -> dict[str, Group]:
    """A group that nobody listed: moving to another coordinator, or gone."""
    try:
        said = describe_group(cluster, group.name)
    except KafkaClientError:
        return {group.name: group}
    if said.group_state == DEAD:
        return {}
    return {group.name: group_of(said, group.coordinator)}


def groups_of(cluster: Cluster, address: Address) -> list[Group]:
    with cluster.brokers.lend(address) as connection:
        listed = connection.request(ListGroupsRequest(), ListGroupsResponse)
        names = [it.group_id for it in listed.groups]
        if not names:
            return []
        answer = connection.request(DescribeGroupsRequest(groups=names), DescribeGroupsResponse)
    return [group_of(it, str(address)) for it in answer.groups if not it.error_code]


def group_of(said: DescribedGroup, coordinator: str) -> Group:
    members = [
        Member(
            it.member_id,
            it.client_id,
            it.client_host.lstrip("/"),
            tuple(sorted(str(one) for one in assigned_to(it))),
        )
        for it in said.members
    ]
    return Group(
        said.group_id,
        said.group_state,
        said.protocol_type,
        said.protocol_data,
        coordinator,
        tuple(sorted(members)),
    )


def lags_of(cluster: Cluster, names: list[str]) -> dict[str, int]:
    """The lag of each group over all that it has committed."""
    committed = {name: all_committed(cluster, name) for name in names[:LAGS_MAX]}
    wanted = existing(cluster, {it for offsets in committed.values() for it in offsets})
    ends = list_offsets(cluster, dict.fromkeys(wanted, LATEST))
    return {
        name: sum(max(0, (ends[it] or 0) - offset) for it, offset in offsets.items() if it in ends)
        for name, offsets in committed.items()
    }


def existing(cluster: Cluster, partitions: set[TopicPartition]) -> list[TopicPartition]:
    """Those that are there and led: a group outlives its topics."""
    topics = cluster.topics()
    return sorted(
        it
        for it in partitions
        if it.topic in topics and topics[it.topic].leaders.get(it.partition) is not None
    )


def places_of(cluster: Cluster, name: str) -> list[Place]:
    """Where a group is, in each partition that it has committed for or was given."""
    committed = all_committed(cluster, name)
    group = describe_group(cluster, name)
    owners = {it: one.client_id for one in group.members for it in assigned_to(one)}
    wanted = existing(cluster, {*committed, *owners})
    first = list_offsets(cluster, dict.fromkeys(wanted, EARLIEST))
    end = list_offsets(cluster, dict.fromkeys(wanted, LATEST))
    return [
        Place(it, first[it] or 0, end[it] or 0, committed.get(it), owners.get(it, ""))
        for it in wanted
    ]
