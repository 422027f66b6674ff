"""Static members (KIP-345): a restarted process takes its old place under a new member id.

Its predecessor is fenced at once. If the group is stable and would choose the same protocol, there
is no rebalance: the new id is stored and the member goes on in this generation. From version 9 on
a leader is told that it leads and need not assign (KIP-814); before, it is shown its old id as
the leader's, so that it does not think that it leads.
"""

from __future__ import annotations

from dataclasses import dataclass

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_answers import in_generation, members_of, sync_error
from odradek.kafka.coordinator.group_errors import store_group_error
from odradek.kafka.coordinator.group_records import write_group
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.groups_rebalance import prepare
from odradek.kafka.coordinator.members import Member, Protocols
from odradek.kafka.coordinator.members_joiner import Joiner
from odradek.kafka.coordinator.members_waiting import (
    answer_join,
    answer_sync,
    fail_join,
    park_join,
)
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.join_group import JoinGroupResponse

SKIP_ASSIGNMENT_VERSION = 9


def replace_static_member(
    desk: Desk, group: Group, joiner: Joiner, member_id: str, now_ms: int
) -> None:
    """Put a newcomer in the place of the member with its instance id."""
    assert joiner.instance_id is not None
    member = group.members[group.static[joiner.instance_id]]
    replacement = Replacement.of(group, member, joiner, member_id)
    fail_join(desk, group, member, ErrorCode.FENCED_INSTANCE_ID, member.member_id)
    answer_sync(desk, member, sync_error(ErrorCode.FENCED_INSTANCE_ID))
    group.rename(member, member_id)
    group.update(member, joiner.protocols, joiner.rebalance_timeout_ms, joiner.session_timeout_ms)
    park_join(desk, group, member, joiner.asker)
    desk.hear_from(member, now_ms)
    if group.state is State.STABLE and group.select_protocol() == group.protocol:
        group.topics = group.subscribed_topics()
        store(desk, group, replacement, now_ms)
    elif group.state in (State.STABLE, State.COMPLETING):
        # In a generation that is being completed the leader may know the old id alone.
        prepare(desk, group, now_ms)


def store(desk: Desk, group: Group, replacement: Replacement, now_ms: int) -> None:
    assignments = {member.member_id: member.assignment for member in group.members.values()}
    desk.append(write_group(group, assignments), replacement, now_ms)


@dataclass(frozen=True, slots=True)
class Replacement:
    """A new member id on its way to the log, and what was before it."""

    group: Group
    member: Member
    generation_id: int
    version: int
    member_id: str
    old_id: str
    old_leader_id: str | None
    old_protocols: Protocols
    old_rebalance_timeout_ms: int
    old_session_timeout_ms: int

    @classmethod
    def of(cls, group: Group, member: Member, joiner: Joiner, member_id: str) -> Replacement:
        return cls(
            group,
            member,
            group.generation_id,
            joiner.asker.version,
            member_id,
            member.member_id,
            group.leader_id,
            member.protocols,
            member.rebalance_timeout_ms,
            member.session_timeout_ms,
        )

    @property
    def is_current(self) -> bool:
        """Whether the group still is as it was left. If not, the member waits, like all others,
        for the rebalance that came between, and is stored with what comes of it."""
        group, member = self.group, self.member
        is_here = group.members.get(self.member_id) is member
        is_same = group.state is State.STABLE and group.generation_id == self.generation_id
        return is_here and is_same

    def appended(self, desk: Desk, base_offset: int, now_ms: int) -> None:
        if self.is_current:
            answer_join(desk, self.group, self.member, self.response())
            desk.hear_from(self.member, now_ms)

    def response(self) -> JoinGroupResponse:
        group, member = self.group, self.member
        if self.version < SKIP_ASSIGNMENT_VERSION:
            return in_generation(group, member, members=[], leader_id=self.old_leader_id)
        is_leader = group.leader_id == member.member_id
        members = members_of(group) if is_leader else []
        return in_generation(group, member, members=members, skip_assignment=is_leader)

    def failed(self, desk: Desk, error: ErrorCode, now_ms: int) -> None:
        """Nobody has heard of the new id: the old one stands again."""
        if self.is_current:
            group, member = self.group, self.member
            fail_join(desk, group, member, store_group_error(error))
            timeouts = self.old_rebalance_timeout_ms, self.old_session_timeout_ms
            group.update(member, self.old_protocols, *timeouts)
            group.rename(member, self.old_id)
            group.topics = group.subscribed_topics()
            desk.hear_from(member, now_ms)
