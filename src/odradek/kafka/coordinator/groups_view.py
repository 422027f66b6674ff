"""DescribeGroups and ListGroups: what operators see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.members import Member
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from odradek.kafka.wire.messages.list_groups import ListedGroup

CLASSIC = "classic"  # The only type of group that a broker without KRaft has.
OPERATIONS_NOT_ASKED = -(2**31)


def describe(group_id: str, group: Group | None) -> DescribedGroup:
    """A group that does not exist is Dead; metadata and assignments are shown when stable."""
    if group is None:
        return described(group_id, state=State.DEAD.value)
    protocol = group.protocol or "" if group.state is State.STABLE else ""
    return described(
        group_id,
        state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol=protocol,
        members=[describe_member(member, protocol) for member in group.members.values()],
    )


def described(
    group_id: str,
    *,
    error: ErrorCode = ErrorCode.NONE,
    state: str = "",
    protocol_type: str = "",
    protocol: str = "",
    members: Iterable[DescribedGroupMember] = (),
) -> DescribedGroup:
    return DescribedGroup(
        error_code=error,
        group_id=group_id,
        group_state=state,
        protocol_type=protocol_type,
        protocol_data=protocol,
        members=list(members),
        authorized_operations=OPERATIONS_NOT_ASKED,
    )


def describe_member(member: Member, protocol: str) -> DescribedGroupMember:
    return DescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client.client_id,
        client_host=member.client.host,
        member_metadata=member.metadata(protocol) if protocol else b"",
        member_assignment=member.assignment if protocol else b"",
    )


def list_groups(
    groups: Iterable[Group], states: Collection[str], types: Collection[str]
) -> Iterator[ListedGroup]:
    """Groups in one of the states and types, if any are named; case does not matter."""
    wanted_states = {state.lower() for state in states}
    if types and CLASSIC not in {each.lower() for each in types}:
        return
    for group in groups:
        if not wanted_states or group.state.value.lower() in wanted_states:
            yield ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type or "",
                group_state=group.state.value,
                group_type=CLASSIC,
            )
