"""What every rule of the group coordinator has at hand: the groups of one shard, their
deadlines, the appends under way, and the outbox for what the call at hand brings about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_deadlines import Deadlines
from odradek.kafka.coordinator.group_effects import Append, Outbox
from odradek.kafka.coordinator.group_figures import GroupFigures
from odradek.kafka.coordinator.members import Member
from odradek.kafka.settings.groups import GroupSettings
from odradek.kafka.settings.offsets import OffsetSettings
from odradek.kafka.wire.batch_writer import PLAIN, Envelope, WrittenRecords
from odradek.kafka.wire.errors import ErrorCode

MS_PER_MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that the rules ask for."""

    session_timeout_ms_min: int = 6000
    session_timeout_ms_max: int = 1_800_000
    initial_delay_ms: int = 3000
    members_max: int = 2**31 - 1
    metadata_length_max: int = 4096
    retention_ms: int = 10_080 * MS_PER_MINUTE

    @classmethod
    def of(cls, groups: GroupSettings, offsets: OffsetSettings) -> Limits:
        return cls(
            session_timeout_ms_min=groups.group_min_session_timeout_ms,
            session_timeout_ms_max=groups.group_max_session_timeout_ms,
            initial_delay_ms=groups.group_initial_rebalance_delay_ms,
            members_max=groups.group_max_size,
            metadata_length_max=offsets.offset_metadata_max_bytes,
            retention_ms=offsets.offsets_retention_minutes * MS_PER_MINUTE,
        )


class Write(Protocol):
    """What hangs on an append: one of the two happens, once."""

    def appended(self, desk: Desk, base_offset: int, now_ms: int) -> None: ...

    def failed(self, desk: Desk, error: ErrorCode, now_ms: int) -> None: ...


@dataclass(slots=True)
class Desk:
    """One shard's groups, and what is being done about them."""

    limits: Limits
    new_uuid: Callable[[], str]
    figures: GroupFigures = field(default_factory=GroupFigures)
    groups: dict[str, Group] = field(default_factory=dict)
    # Groups with offsets in open transactions, by producer: a marker names nobody else.
    open_for_producer: dict[int, dict[str, None]] = field(default_factory=dict)
    deadlines: Deadlines = field(default_factory=Deadlines)
    outbox: Outbox = field(default_factory=Outbox)
    writes: dict[int, Write] = field(default_factory=dict)
    appended_count: int = 0

    def group_of(self, group_id: str, now_ms: int) -> Group:
        """A group by its id, made now if it is not known."""
        group = self.groups.get(group_id)
        if group is None:
            group = self.groups[group_id] = Group(group_id, now_ms)
        return group

    def append(
        self,
        records: WrittenRecords,
        write: Write,
        now_ms: int,
        envelope: Envelope = PLAIN,
    ) -> int:
        """Have a batch written; what depends on it waits under the number returned."""
        number = self.appended_count
        self.appended_count += 1
        self.writes[number] = write
        self.outbox.appends.append(Append(number, records, now_ms, envelope))
        return number

    def hear_from(self, member: Member, now_ms: int) -> None:
        """A member gave a sign of life: its session starts anew."""
        self.deadlines.start(member.session, now_ms, member.session_timeout_ms)

    def discard(self, group: Group) -> None:
        """Forget a group that is gone from the log, except for offsets that are still in it."""
        for deadline in (group.join_deadline, group.sync_deadline, *group.pending.values()):
            self.deadlines.cancel(deadline)
        for member in group.members.values():
            self.deadlines.cancel(member.session)
        if group.offsets:
            heir = Group(group.group_id, group.state_since_ms, offsets=group.offsets)
            self.groups[group.group_id] = heir
        else:
            self.groups.pop(group.group_id, None)

    def forget_if_nothing_stored(self, group_id: str) -> None:
        """Drop a group that was but a name for offsets, when it has none."""
        group = self.groups.get(group_id)
        if group and group.generation_id == 0 and self.is_forgettable(group):
            self.discard(group)

    def is_forgettable(self, group: Group) -> bool:
        """Whether nothing of a group is left that anyone could ask for."""
        return group.state is State.EMPTY and not group.offsets and not group.pending
