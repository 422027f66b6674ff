"""Offsets and groups that go: by OffsetDelete, DeleteGroups, age, or with their topic.

All leave tombstones in the log, and are gone when these are. An empty group without offsets goes
with its last one; until its tombstone is written it is Dead, which clients take as a reason to
look for the coordinator again.

What is too old: of an empty group, everything when the group has been empty for the retention
time; of a stable group of consumers, what no member subscribes to and nobody has committed for so
long; of a group that never had members, what nobody has committed for so long.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_effects import Asker
from odradek.kafka.coordinator.group_errors import commit_error
from odradek.kafka.coordinator.group_records import write_group_key, write_offset_key
from odradek.kafka.coordinator.group_subscriptions import CONSUMER
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.offsets import CommittedOffset
from odradek.kafka.coordinator.offsets_answers import delete_response
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch_writer import write_pairs
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_groups import DeletableGroupResult
from odradek.kafka.wire.schema import Struct

Outcome = Callable[[ErrorCode], Struct]  # The answer, once it is known how the append went.


def delete_group(desk: Desk, group_id: str, asker: Asker, now_ms: int) -> None:
    """Handle one group of a DeleteGroups."""

    def outcome(error: ErrorCode) -> Struct:
        return DeletableGroupResult(group_id=group_id, error_code=error)

    group = desk.groups.get(group_id)
    if group is None or group.state is State.DEAD:
        desk.outbox.answer(asker, outcome(ErrorCode.GROUP_ID_NOT_FOUND))
    elif group.state is not State.EMPTY:
        desk.outbox.answer(asker, outcome(ErrorCode.NON_EMPTY_GROUP))
    else:
        removal = Removal(group, tuple(group.offsets.erasable()), True, asker, outcome)
        begin(desk, removal, now_ms)


def delete_offsets(
    desk: Desk,
    group: Group | None,
    asker: Asker,
    partitions: Collection[TopicPartition],
    now_ms: int,
) -> None:
    """Handle an OffsetDelete: what members read stays."""
    if error := delete_refusal(group):
        desk.outbox.answer(asker, delete_response(error))
        return
    assert group is not None
    is_empty = group.state is State.EMPTY
    errors = {
        each: ErrorCode.NONE
        if is_empty or not group.is_subscribed_to(each.topic)
        else ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        for each in partitions
    }

    def outcome(error: ErrorCode) -> Struct:
        return delete_response(error, None if error else errors)

    eligible = {each for each, error in errors.items() if not error}
    remove_offsets(desk, group, eligible, now_ms, asker, outcome)


def delete_refusal(group: Group | None) -> ErrorCode | None:
    if group is None or group.state is State.DEAD:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not State.EMPTY and group.protocol_type != CONSUMER:
        return ErrorCode.NON_EMPTY_GROUP
    return None


def remove_offsets(
    desk: Desk,
    group: Group,
    partitions: Collection[TopicPartition],
    now_ms: int,
    asker: Asker | None = None,
    outcome: Outcome | None = None,
) -> None:
    """Take offsets out, and the group with them if it is of no use to anyone then."""
    known = list(group.offsets.erasable())
    removed = tuple(partition for partition in known if partition in partitions)
    is_last = len(removed) == len(known) and not group.offsets.transactional
    takes_group = is_last and group.state is State.EMPTY and not group.pending
    begin(desk, Removal(group, removed, takes_group, asker, outcome), now_ms)


def begin(desk: Desk, removal: Removal, now_ms: int) -> None:
    """Write the tombstones, if there is anything in the log to bury."""
    records = list(removal.tombstones())
    if removal.takes_group:
        removal.group.state = State.DEAD
    if records:
        desk.append(write_pairs(records), removal, now_ms)
    else:
        removal.appended(desk, 0, now_ms)


@dataclass(frozen=True, slots=True)
class Removal:
    """Tombstones on their way to the log."""

    group: Group
    partitions: tuple[TopicPartition, ...]
    takes_group: bool
    asker: Asker | None
    outcome: Outcome | None

    def tombstones(self) -> Iterator[tuple[bytes, None]]:
        for partition in self.partitions:
            yield write_offset_key(self.group.group_id, partition), None
        # A group without a generation is a name for offsets, and was never stored itself.
        if self.takes_group and self.group.generation_id > 0:
            yield write_group_key(self.group.group_id), None

    def appended(self, desk: Desk, base_offset: int, now_ms: int) -> None:
        for partition in self.partitions:
            self.group.offsets.remove(partition, base_offset)
        self._count(desk)
        if self.takes_group:
            desk.discard(self.group)
        else:
            desk.forget_if_nothing_stored(self.group.group_id)
        self._answer(desk, ErrorCode.NONE)

    def failed(self, desk: Desk, error: ErrorCode, now_ms: int) -> None:
        if self.takes_group:
            self.group.state = State.EMPTY
        self._answer(desk, commit_error(error))

    def _count(self, desk: Desk) -> None:
        if self.asker is None:
            desk.figures.offsets_expired += len(self.partitions)
        else:
            desk.figures.offsets_deleted += len(self.partitions)

    def _answer(self, desk: Desk, error: ErrorCode) -> None:
        if self.asker is not None and self.outcome is not None:
            desk.outbox.answer(self.asker, self.outcome(error))


def expire(desk: Desk, now_ms: int) -> None:
    """Remove what is too old from all groups."""
    alive = [group for group in desk.groups.values() if group.state is not State.DEAD]
    for group in alive:
        expired = set(expired_offsets(group, now_ms, desk.limits.retention_ms))
        if expired or desk.is_forgettable(group):
            remove_offsets(desk, group, expired, now_ms)


def expired_offsets(group: Group, now_ms: int, retention_ms: int) -> Iterator[TopicPartition]:
    base_of = age_base(group)
    if base_of is None:
        return
    subscribed = group.topics if group.state is State.STABLE and group.topics else frozenset()
    for partition, committed in group.offsets.logged.items():
        if partition.topic in subscribed or group.offsets.is_in_flight(partition):
            continue
        if committed.expire_timestamp_ms != -1:
            is_old = now_ms >= committed.expire_timestamp_ms
        else:
            is_old = now_ms - base_of(committed) >= retention_ms
        if is_old:
            yield partition


def age_base(group: Group) -> Callable[[CommittedOffset], int] | None:
    """From when the age of an offset counts; None if none of the group's may expire now."""
    since_ms = group.state_since_ms
    if group.protocol_type is None:
        return committed_at
    if group.state is State.EMPTY:
        return committed_at if since_ms is None else lambda _: since_ms
    is_readable = group.protocol_type == CONSUMER and group.topics is not None
    return committed_at if is_readable and group.state is State.STABLE else None


def committed_at(committed: CommittedOffset) -> int:
    return committed.commit_timestamp_ms


def forget_partitions(desk: Desk, partitions: Collection[TopicPartition], now_ms: int) -> None:
    """Topics were deleted: no group needs to know how far it had come in them."""
    for group in list(desk.groups.values()):
        if group.state is not State.DEAD and not group.offsets.logged.keys().isdisjoint(partitions):
            remove_offsets(desk, group, partitions, now_ms)
