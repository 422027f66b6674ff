"""LeaveGroup: members go, by member id or, for static ones, by instance id alone."""

from __future__ import annotations

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_answers import UNKNOWN_MEMBER
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.groups_rebalance import complete_if_all_joined, remove_member
from odradek.kafka.coordinator.members_waiting import drop_pending, member_error
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
    MemberResponse,
)

BATCH_VERSION = 3  # Before it, a request named one member, and had one error.


def leaving(request: LeaveGroupRequest, version: int) -> list[MemberIdentity]:
    """Who leaves, whatever the version."""
    if version >= BATCH_VERSION:
        return request.members
    return [MemberIdentity(member_id=request.member_id)]


def leave(
    desk: Desk, group: Group | None, members: list[MemberIdentity], now_ms: int
) -> LeaveGroupResponse:
    if group is not None and group.state is State.DEAD:
        return LeaveGroupResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    results = [leave_one(desk, group, identity, now_ms) for identity in members]
    return LeaveGroupResponse(error_code=ErrorCode.NONE, members=results)


def leave_one(
    desk: Desk, group: Group | None, identity: MemberIdentity, now_ms: int
) -> MemberResponse:
    error = ErrorCode.UNKNOWN_MEMBER_ID
    if group is not None:
        error = go(desk, group, identity.member_id, identity.group_instance_id, now_ms)
    return MemberResponse(
        member_id=identity.member_id,
        group_instance_id=identity.group_instance_id,
        error_code=error,
    )


def go(desk: Desk, group: Group, member_id: str, instance_id: str | None, now_ms: int) -> ErrorCode:
    """Take one member, or one that was about to be, out of the group."""
    if member_id in group.pending:
        drop_pending(desk, group, member_id)
        complete_if_all_joined(desk, group, now_ms)
        desk.forget_if_nothing_stored(group.group_id)
        return ErrorCode.NONE
    if member_id == UNKNOWN_MEMBER and instance_id is not None:
        member_id = group.static.get(instance_id, UNKNOWN_MEMBER)
    if error := member_error(group, member_id, instance_id):
        return error
    remove_member(desk, group, group.members[member_id], now_ms)
    return ErrorCode.NONE


def in_version(response: LeaveGroupResponse, version: int) -> LeaveGroupResponse:
    """The answer in the form of a version: the old ones have no list."""
    if version >= BATCH_VERSION:
        return response
    error = response.error_code or response.members[0].error_code
    return LeaveGroupResponse(error_code=error)
