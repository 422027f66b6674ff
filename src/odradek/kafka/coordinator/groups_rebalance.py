"""How a rebalance goes: wait for members, start a generation, wait for its assignments.

The first rebalance of an empty group waits the initial delay, again while members keep coming,
up to the longest rebalance timeout. Any other waits until all members have joined again, or that
timeout has passed; dynamic members who did not come are out, static ones stay until their session
ends. A generation in which nobody is left is stored at once; others when the leader has brought
the assignments.
"""

from __future__ import annotations

from dataclasses import dataclass

from odradek.kafka.coordinator.group import CAN_REBALANCE, Group, State
from odradek.kafka.coordinator.group_answers import sync_error
from odradek.kafka.coordinator.group_records import write_group
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.members import Member
from odradek.kafka.coordinator.members_waiting import admit, answer_sync, drop_member
from odradek.kafka.wire.errors import ErrorCode


def prepare_if_possible(desk: Desk, group: Group, now_ms: int) -> None:
    if group.state in CAN_REBALANCE:
        prepare(desk, group, now_ms)


def prepare(desk: Desk, group: Group, now_ms: int) -> None:
    """Start a rebalance."""
    if group.state is State.COMPLETING:
        withdraw_assignments(desk, group, ErrorCode.REBALANCE_IN_PROGRESS, now_ms)
    group.unsynced.clear()
    desk.deadlines.cancel(group.sync_deadline)
    was_empty = group.state is State.EMPTY
    group.enter(State.PREPARING, now_ms)
    if was_empty:
        begin_initial_delay(desk, group, now_ms)
    else:
        desk.deadlines.start(group.join_deadline, now_ms, group.rebalance_timeout_ms)
        complete_if_all_joined(desk, group, now_ms)


def withdraw_assignments(desk: Desk, group: Group, error: ErrorCode, now_ms: int) -> None:
    """Tell all who wait for an assignment of this generation that none will come."""
    for member in group.members.values():
        member.assignment = b""
        if answer_sync(desk, member, sync_error(error)):
            desk.hear_from(member, now_ms)


def begin_initial_delay(desk: Desk, group: Group, now_ms: int) -> None:
    delay_ms = desk.limits.initial_delay_ms
    if delay_ms <= 0:
        complete_join(desk, group, now_ms)
        return
    group.has_newcomers = False
    group.delay_ms = delay_ms
    group.delay_left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
    desk.deadlines.start(group.join_deadline, now_ms, delay_ms)


def end_join_wait(desk: Desk, group: Group, now_ms: int) -> None:
    """The time to join is over, unless it was the initial delay and members are still coming."""
    if group.delay_ms and group.has_newcomers and group.delay_left_ms:
        group.has_newcomers = False
        passed_ms, group.delay_ms = (
            group.delay_ms,
            min(desk.limits.initial_delay_ms, group.delay_left_ms),
        )
        group.delay_left_ms = max(group.delay_left_ms - passed_ms, 0)
        desk.deadlines.start(group.join_deadline, now_ms, group.delay_ms)
    else:
        complete_join(desk, group, now_ms)


def complete_if_all_joined(desk: Desk, group: Group, now_ms: int) -> None:
    """Go on as soon as nobody is missing. The initial delay is waited out all the same."""
    if group.state is State.PREPARING and not group.delay_ms and group.has_all_joined:
        complete_join(desk, group, now_ms)


def complete_join(desk: Desk, group: Group, now_ms: int) -> None:
    """Start the next generation with those who came."""
    group.delay_ms = 0
    desk.deadlines.cancel(group.join_deadline)
    missing = [m for m in group.members.values() if m.joining is None and m.instance_id is None]
    for member in missing:
        drop_member(desk, group, member)
    if group.members and not group.elect_leader():
        # All are static and away: their sessions decide how long they stay members.
        desk.deadlines.start(group.join_deadline, now_ms, group.rebalance_timeout_ms)
        return
    group.next_generation(now_ms)
    if group.members:
        begin_sync(desk, group, now_ms)
    else:
        desk.append(write_group(group, {}), EmptyGeneration(), now_ms)


def begin_sync(desk: Desk, group: Group, now_ms: int) -> None:
    """Tell everyone the new generation, and expect them to ask for their assignment."""
    for member in group.members.values():
        admit(desk, group, member, now_ms)
        group.unsynced[member.member_id] = None
    desk.deadlines.start(group.sync_deadline, now_ms, group.rebalance_timeout_ms)


def end_sync_wait(desk: Desk, group: Group, now_ms: int) -> None:
    """Those who did not ask for their assignment are out."""
    if group.state not in (State.COMPLETING, State.STABLE) or not group.unsynced:
        return
    for member_id in list(group.unsynced):
        drop_member(desk, group, group.members[member_id])
    prepare(desk, group, now_ms)


def remove_member(desk: Desk, group: Group, member: Member, now_ms: int) -> None:
    """A member has left or failed: the others share its work."""
    drop_member(desk, group, member)
    if group.state in (State.STABLE, State.COMPLETING):
        prepare(desk, group, now_ms)
    else:
        complete_if_all_joined(desk, group, now_ms)


@dataclass(frozen=True, slots=True)
class EmptyGeneration:
    """The record of a generation without members. Without it, a restart would bring back the
    members of the one before, whose sessions then end."""

    def appended(self, desk: Desk, base_offset: int, now_ms: int) -> None:
        pass

    def failed(self, desk: Desk, error: ErrorCode, now_ms: int) -> None:
        pass
