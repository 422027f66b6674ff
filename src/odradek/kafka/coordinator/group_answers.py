"""Answers of the group coordinator, in the form that each version of a client expects."""

from __future__ import annotations

from odradek.kafka.coordinator.group import Group
from odradek.kafka.coordinator.group_effects import Asker
from odradek.kafka.coordinator.members import Member
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.join_group import JoinGroupResponse, JoinGroupResponseMember
from odradek.kafka.wire.messages.sync_group import SyncGroupResponse

NULL_PROTOCOL_VERSION = 7  # Before it, "no protocol" was an empty string.
UNKNOWN_MEMBER = ""


def join_error(
    asker: Asker, error: ErrorCode, member_id: str = UNKNOWN_MEMBER
) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=error,
        protocol_name=None if asker.version >= NULL_PROTOCOL_VERSION else "",
        leader="",
        member_id=member_id,
        members=[],
    )


def joined(group: Group, member: Member) -> JoinGroupResponse:
    """The generation that a member is in; the leader learns who else is."""
    is_leader = group.leader_id == member.member_id
    return in_generation(group, member, members=members_of(group) if is_leader else [])


def in_generation(
    group: Group,
    member: Member,
    *,
    members: list[JoinGroupResponseMember],
    leader_id: str | None = None,
    skip_assignment: bool = False,
) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=ErrorCode.NONE,
        generation_id=group.generation_id,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        leader=leader_id or group.leader_id or "",
        skip_assignment=skip_assignment,
        member_id=member.member_id,
        members=members,
    )


def members_of(group: Group) -> list[JoinGroupResponseMember]:
    assert group.protocol is not None
    return [
        JoinGroupResponseMember(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            metadata=member.metadata(group.protocol),
        )
        for member in group.members.values()
    ]


def sync_error(error: ErrorCode) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error, assignment=b"")


def synced(group: Group, member: Member) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=ErrorCode.NONE,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        assignment=member.assignment,
    )
