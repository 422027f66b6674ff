"""SyncGroup and Heartbeat: a member of a generation asks for its work, and is alive.

The leader brings the assignments of all. They are stored, and only then told to those who wait:
after a failure of this broker the next coordinator must know the same. If they cannot be stored,
all who wait hear so, and the group rebalances.
"""

from __future__ import annotations

from dataclasses import dataclass

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_answers import synced
from odradek.kafka.coordinator.group_effects import Asker
from odradek.kafka.coordinator.group_errors import store_group_error
from odradek.kafka.coordinator.group_records import write_group
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.groups_rebalance import prepare, withdraw_assignments
from odradek.kafka.coordinator.members import Member
from odradek.kafka.coordinator.members_waiting import answer_sync, member_error, park_sync
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest
from odradek.kafka.wire.messages.sync_group import SyncGroupRequest


def generation_error(
    group: Group, member_id: str, instance_id: str | None, generation_id: int
) -> ErrorCode | None:
    """What is wrong with someone who claims to be this member, in this generation."""
    if group.state is State.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if error := member_error(group, member_id, instance_id):
        return error
    return None if generation_id == group.generation_id else ErrorCode.ILLEGAL_GENERATION


def sync(
    desk: Desk, group: Group, asker: Asker, request: SyncGroupRequest, now_ms: int
) -> ErrorCode | None:
    """Handle a SyncGroup; what is returned refuses it, and else it is answered or waits."""
    if error := sync_refusal(group, request):
        return error
    member = group.members[request.member_id]
    group.unsynced.pop(member.member_id, None)
    if not group.unsynced:
        desk.deadlines.cancel(group.sync_deadline)
    if group.state is State.STABLE:
        desk.outbox.answer(asker, synced(group, member))
        desk.hear_from(member, now_ms)
        return None
    park_sync(desk, member, asker)
    is_stored = group.storing_generation == group.generation_id
    if group.leader_id == member.member_id and not is_stored:
        store_assignments(desk, group, request, now_ms)
    return None


def sync_refusal(group: Group, request: SyncGroupRequest) -> ErrorCode | None:
    error = generation_error(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    if error:
        return error
    is_same_type = request.protocol_type in (None, group.protocol_type)
    if not is_same_type or request.protocol_name not in (None, group.protocol):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is State.PREPARING else None


def store_assignments(desk: Desk, group: Group, request: SyncGroupRequest, now_ms: int) -> None:
    """Write the generation down. Members that the leader left out get nothing to do."""
    given = {each.member_id: bytes(each.assignment) for each in request.assignments}
    assignments = {member_id: given.get(member_id, b"") for member_id in group.members}
    group.storing_generation = group.generation_id
    write = Assignments(group, group.generation_id, assignments)
    desk.append(write_group(group, assignments), write, now_ms)


@dataclass(frozen=True, slots=True)
class Assignments:
    """The assignments of a generation on their way to the log."""

    group: Group
    generation_id: int
    by_member: dict[str, bytes]

    @property
    def is_awaited(self) -> bool:
        """Whether the generation still waits for them, and no rebalance came between."""
        is_current = self.group.generation_id == self.generation_id
        return is_current and self.group.state is State.COMPLETING

    def appended(self, desk: Desk, base_offset: int, now_ms: int) -> None:
        if not self.is_awaited:
            return
        self.group.enter(State.STABLE, now_ms)
        desk.figures.rebalances_completed += 1
        for member_id, member in self.group.members.items():
            member.assignment = self.by_member[member_id]
            self.tell(desk, member, now_ms)

    def tell(self, desk: Desk, member: Member, now_ms: int) -> None:
        # Its session may have run out unnoticed while it waited for us.
        if answer_sync(desk, member, synced(self.group, member)):
            desk.hear_from(member, now_ms)

    def failed(self, desk: Desk, error: ErrorCode, now_ms: int) -> None:
        if self.is_awaited:
            self.group.storing_generation = None
            withdraw_assignments(desk, self.group, store_group_error(error), now_ms)
            prepare(desk, self.group, now_ms)


def heartbeat(desk: Desk, group: Group, request: HeartbeatRequest, now_ms: int) -> ErrorCode:
    """A member is alive; if a rebalance is on, it shall join again."""
    error = generation_error(
        group, request.member_id, request.group_instance_id, request.generation_id
    )
    if error:
        return error
    desk.hear_from(group.members[request.member_id], now_ms)
    is_preparing = group.state is State.PREPARING
    return ErrorCode.REBALANCE_IN_PROGRESS if is_preparing else ErrorCode.NONE
