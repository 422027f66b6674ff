"""Members whose JoinGroup or SyncGroup waits, and members that go while it does.

A request that waits is answered exactly once: with what it waits for, with why that will not
come, or, when the same member asks again over another connection, with "again, please".
"""

from __future__ import annotations

from odradek.kafka.coordinator.group import Group
from odradek.kafka.coordinator.group_answers import UNKNOWN_MEMBER, join_error, joined, sync_error
from odradek.kafka.coordinator.group_effects import Asker
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.members import Member
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.join_group import JoinGroupResponse
from odradek.kafka.wire.messages.sync_group import SyncGroupResponse


def park_join(desk: Desk, group: Group, member: Member, asker: Asker) -> None:
    """Let a member wait for the next generation."""
    fail_join(desk, group, member, ErrorCode.REBALANCE_IN_PROGRESS, member.member_id)
    member.joining = asker
    group.joining_count += 1


def park_sync(desk: Desk, member: Member, asker: Asker) -> None:
    """Let a member wait for the assignments of this generation."""
    answer_sync(desk, member, sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
    member.syncing = asker


def answer_join(desk: Desk, group: Group, member: Member, response: JoinGroupResponse) -> None:
    if asker := take_joining(group, member):
        desk.outbox.answer(asker, response)


def fail_join(
    desk: Desk, group: Group, member: Member, error: ErrorCode, member_id: str = UNKNOWN_MEMBER
) -> None:
    if asker := take_joining(group, member):
        desk.outbox.answer(asker, join_error(asker, error, member_id))


def take_joining(group: Group, member: Member) -> Asker | None:
    asker, member.joining = member.joining, None
    group.joining_count -= asker is not None
    return asker


def answer_sync(desk: Desk, member: Member, response: SyncGroupResponse) -> bool:
    """Answer the SyncGroup that waits, if one does."""
    asker, member.syncing = member.syncing, None
    if asker:
        desk.outbox.answer(asker, response)
    return asker is not None


def admit(desk: Desk, group: Group, member: Member, now_ms: int) -> None:
    """Answer a member's JoinGroup with the generation, and expect its heartbeats from now on."""
    answer_join(desk, group, member, joined(group, member))
    member.is_new = False
    desk.hear_from(member, now_ms)


def drop_member(desk: Desk, group: Group, member: Member) -> None:
    """Take a member out; whatever it waits for, it is unknown now and may join anew."""
    fail_join(desk, group, member, ErrorCode.UNKNOWN_MEMBER_ID)
    answer_sync(desk, member, sync_error(ErrorCode.UNKNOWN_MEMBER_ID))
    desk.deadlines.cancel(member.session)
    group.remove(member)


def drop_pending(desk: Desk, group: Group, member_id: str) -> None:
    """Take back a member id that was given out and not used."""
    if deadline := group.pending.pop(member_id, None):
        desk.deadlines.cancel(deadline)


def member_error(group: Group, member_id: str, instance_id: str | None) -> ErrorCode | None:
    """What is wrong with someone who claims to be this member."""
    if instance_id is not None and instance_id in group.static:
        is_current = group.static[instance_id] == member_id
        return None if is_current else ErrorCode.FENCED_INSTANCE_ID
    if instance_id is not None or member_id not in group.members:
        return ErrorCode.UNKNOWN_MEMBER_ID
    return None
