"""JoinGroup: who may become a member, and what a member's new word means for the others.

Someone without a member id is new; from version 4 on, dynamic ones are first given an id to come
back with (KIP-394), so that a lost answer leaves no ghost in the group. A member that joins again
starts a rebalance if it is the leader or says something new; else it learns the generation.
"""

from __future__ import annotations

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_answers import (
    UNKNOWN_MEMBER,
    in_generation,
    join_error,
    joined,
)
from odradek.kafka.coordinator.group_deadlines import Deadline, Kind
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.groups_rebalance import complete_if_all_joined, prepare_if_possible
from odradek.kafka.coordinator.groups_static import replace_static_member
from odradek.kafka.coordinator.members import Member
from odradek.kafka.coordinator.members_joiner import Joiner
from odradek.kafka.coordinator.members_waiting import (
    drop_member,
    drop_pending,
    member_error,
    park_join,
)
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.join_group import JoinGroupResponse

MEMBER_ID_REQUIRED_VERSION = 4
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000


def join(desk: Desk, group_id: str, joiner: Joiner, now_ms: int) -> ErrorCode | None:
    """Handle a JoinGroup; what is returned refuses it, and else it is answered or waits."""
    limits = desk.limits
    shortest, longest = limits.session_timeout_ms_min, limits.session_timeout_ms_max
    if not shortest <= joiner.session_timeout_ms <= longest:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    group = desk.groups.get(group_id)
    if group is None and joiner.member_id != UNKNOWN_MEMBER:
        return ErrorCode.UNKNOWN_MEMBER_ID
    group = group or Group(group_id, now_ms)
    if not has_room(group, joiner.member_id, limits.members_max):
        turn_away(desk, group, joiner)
        error = None
    else:
        error = join_refusal(group, joiner) or let_in(desk, group, joiner, now_ms)
    complete_if_all_joined(desk, group, now_ms)
    return error


def join_refusal(group: Group, joiner: Joiner) -> ErrorCode | None:
    if group.state is State.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if not group.supports(joiner.protocol_type, joiner.protocols):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return None


def has_room(group: Group, member_id: str, members_max: int) -> bool:
    """Whether the group can take one more, or this is one that it has already."""
    member = group.members.get(member_id)
    if group.state in (State.EMPTY, State.DEAD):
        return True
    if group.state is State.PREPARING:
        # A group that was loaded over its capacity shrinks here: the first to join stay.
        is_waiting = member is not None and member.joining is not None
        return is_waiting or group.joining_count < members_max
    return member is not None or len(group.members) < members_max


def turn_away(desk: Desk, group: Group, joiner: Joiner) -> None:
    """The group is full."""
    if member := group.members.get(joiner.member_id):
        drop_member(desk, group, member)
    drop_pending(desk, group, joiner.member_id)
    full = join_error(joiner.asker, ErrorCode.GROUP_MAX_SIZE_REACHED)
    desk.outbox.answer(joiner.asker, full)


def let_in(desk: Desk, group: Group, joiner: Joiner, now_ms: int) -> ErrorCode | None:
    desk.groups[group.group_id] = group
    if joiner.member_id == UNKNOWN_MEMBER:
        join_as_unknown(desk, group, joiner, now_ms)
        return None
    if joiner.member_id in group.pending:
        if joiner.instance_id is not None:
            return ErrorCode.UNKNOWN_SERVER_ERROR  # Only dynamic members are ever pending.
        add_member(desk, group, joiner, joiner.member_id, now_ms)
        return None
    if error := member_error(group, joiner.member_id, joiner.instance_id):
        return error
    rejoin(desk, group, group.members[joiner.member_id], joiner, now_ms)
    return None


def join_as_unknown(desk: Desk, group: Group, joiner: Joiner, now_ms: int) -> None:
    name = joiner.client.client_id if joiner.instance_id is None else joiner.instance_id
    member_id = f"{name}-{desk.new_uuid()}"
    if joiner.instance_id in group.static:
        replace_static_member(desk, group, joiner, member_id, now_ms)
    elif joiner.instance_id is None and joiner.asker.version >= MEMBER_ID_REQUIRED_VERSION:
        give_member_id(desk, group, joiner, member_id, now_ms)
    else:
        add_member(desk, group, joiner, member_id, now_ms)


def give_member_id(desk: Desk, group: Group, joiner: Joiner, member_id: str, now_ms: int) -> None:
    """Have a newcomer come back under a member id, within a session timeout."""
    deadline = Deadline(Kind.PENDING_MEMBER, group.group_id, member_id)
    group.pending[member_id] = deadline
    desk.deadlines.start(deadline, now_ms, joiner.session_timeout_ms)
    required = join_error(joiner.asker, ErrorCode.MEMBER_ID_REQUIRED, member_id)
    desk.outbox.answer(joiner.asker, required)


def add_member(desk: Desk, group: Group, joiner: Joiner, member_id: str, now_ms: int) -> None:
    if not group.members:
        group.protocol_type = joiner.protocol_type
    member = Member(
        member_id,
        joiner.instance_id,
        joiner.client,
        joiner.rebalance_timeout_ms,
        joiner.session_timeout_ms,
        joiner.protocols,
        Deadline(Kind.SESSION, group.group_id, member_id),
        is_new=True,
        joining=joiner.asker,
    )
    drop_pending(desk, group, member_id)
    group.add(member)
    if group.state is State.PREPARING and group.generation_id == 0:
        group.has_newcomers = True
    # It cannot send heartbeats before it is answered, and we would not see it go: a limit of its
    # own keeps those who gave up from piling up in a long rebalance.
    desk.deadlines.start(member.session, now_ms, NEW_MEMBER_JOIN_TIMEOUT_MS)
    prepare_if_possible(desk, group, now_ms)


def answer_at_once(
    desk: Desk, member: Member, joiner: Joiner, response: JoinGroupResponse, now_ms: int
) -> None:
    desk.outbox.answer(joiner.asker, response)
    desk.hear_from(member, now_ms)


def rejoin(desk: Desk, group: Group, member: Member, joiner: Joiner, now_ms: int) -> None:
    """A member joins again."""
    says_nothing_new = member.protocols == joiner.protocols
    is_leader = group.leader_id == member.member_id
    if group.state is State.COMPLETING and says_nothing_new:
        # Its answer was lost on the way, perhaps: it still is in this generation.
        answer_at_once(desk, member, joiner, joined(group, member), now_ms)
    elif group.state is State.STABLE and says_nothing_new and not is_leader:
        current = in_generation(group, member, members=[])
        answer_at_once(desk, member, joiner, current, now_ms)
    else:
        timeouts = joiner.rebalance_timeout_ms, joiner.session_timeout_ms
        group.update(member, joiner.protocols, *timeouts)
        park_join(desk, group, member, joiner.asker)
        prepare_if_possible(desk, group, now_ms)
