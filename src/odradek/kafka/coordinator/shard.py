"""One partition of `__consumer_offsets`: the groups whose ids hash to it, and their offsets.

Every call returns effects: answers to send, batches to append, and when to call `tick` at the
latest. The shell appends the batches in this order, and tells for each, once, how it went, in the
order of the log: `appended` when it is as safe as offsets.commit.required.acks demands,
`append_failed` when it was refused, or was not safe within offsets.commit.timeout.ms. Only then
does what the batch says become visible, and those who wait for it are answered.

Time is the caller's, in milliseconds since 1970; it may not jump, for sessions are measured in it:
the wall clock at the start, and the loop's clock from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum

from odradek.kafka.coordinator.group import State
from odradek.kafka.coordinator.group_answers import join_error, sync_error
from odradek.kafka.coordinator.group_deadlines import Deadline, Deadlines, Kind
from odradek.kafka.coordinator.group_effects import Asker, Effects
from odradek.kafka.coordinator.group_figures import GroupFigures
from odradek.kafka.coordinator.groups_desk import Desk, Limits
from odradek.kafka.coordinator.groups_join import join
from odradek.kafka.coordinator.groups_leave import in_version, leave, leaving
from odradek.kafka.coordinator.groups_loading import end_transaction, load_batch, start_sessions
from odradek.kafka.coordinator.groups_rebalance import (
    complete_if_all_joined,
    end_join_wait,
    end_sync_wait,
    remove_member,
)
from odradek.kafka.coordinator.groups_sync import heartbeat, sync
from odradek.kafka.coordinator.groups_view import describe, described, list_groups
from odradek.kafka.coordinator.members import Client
from odradek.kafka.coordinator.members_joiner import Joiner
from odradek.kafka.coordinator.members_waiting import answer_sync, drop_pending, fail_join
from odradek.kafka.coordinator.offsets_answers import delete_response
from odradek.kafka.coordinator.offsets_commit import Committer, commit, refuse
from odradek.kafka.coordinator.offsets_fetch import fetch, fetch_error
from odradek.kafka.coordinator.offsets_removal import (
    delete_group,
    delete_offsets,
    expire,
    forget_partitions,
)
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.delete_groups import DeletableGroupResult
from odradek.kafka.wire.messages.describe_groups import DescribedGroup
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.kafka.wire.messages.join_group import JoinGroupRequest
from odradek.kafka.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from odradek.kafka.wire.messages.list_groups import ListedGroup
from odradek.kafka.wire.messages.offset_commit import OffsetCommitRequest
from odradek.kafka.wire.messages.offset_delete import OffsetDeleteRequest
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequestGroup,
    OffsetFetchResponseGroup,
)
from odradek.kafka.wire.messages.sync_group import SyncGroupRequest
from odradek.kafka.wire.messages.txn_offset_commit import TxnOffsetCommitRequest


class Status(Enum):
    """Whether a shard may be asked, or else what it says."""

    LOADING = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    ACTIVE = ErrorCode.NONE
    UNLOADED = ErrorCode.NOT_COORDINATOR


class Shard:
    """The group coordinator for one partition, while this broker leads it."""

    def __init__(
        self, limits: Limits, new_uuid: Callable[[], str], figures: GroupFigures | None = None
    ) -> None:
        self.status = Status.LOADING
        self.desk = Desk(limits, new_uuid, figures or GroupFigures())

    def load_batch(self, batch: Batch, now_ms: int) -> None:
        """Apply a batch of the log. Raises `ProtocolError` if its records make no sense."""
        assert self.status is Status.LOADING
        load_batch(self.desk, batch, now_ms)

    def finish_loading(self, now_ms: int) -> Effects:
        """The end of the log is reached: take over."""
        self.status = Status.ACTIVE
        start_sessions(self.desk, now_ms)
        return self._effects()

    def unload(self) -> Effects:
        """Another broker leads now: all who wait shall look for it."""
        for group in self.desk.groups.values():
            group.state = State.DEAD
            for member in group.members.values():
                fail_join(self.desk, group, member, ErrorCode.NOT_COORDINATOR, member.member_id)
                answer_sync(self.desk, member, sync_error(ErrorCode.NOT_COORDINATOR))
        for write in self.desk.writes.values():
            write.failed(self.desk, ErrorCode.NOT_LEADER_OR_FOLLOWER, 0)
        self.status = Status.UNLOADED
        self.desk.writes.clear()
        self.desk.groups.clear()
        self.desk.open_for_producer.clear()
        self.desk.deadlines = Deadlines()
        return self._effects()

    def handle_join(
        self, asker: Asker, request: JoinGroupRequest, client: Client, now_ms: int
    ) -> Effects:
        error = self._refusal(request.group_id)
        if error is None:
            joiner = Joiner.of(asker, request, client)
            error = join(self.desk, request.group_id, joiner, now_ms)
        if error is not None:
            self.desk.outbox.answer(asker, join_error(asker, error, request.member_id))
        return self._effects()

    def handle_sync(self, asker: Asker, request: SyncGroupRequest, now_ms: int) -> Effects:
        error = self._refusal(request.group_id)
        group = self.desk.groups.get(request.group_id)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            # What the assignments were is not known any more: join again.
            error = ErrorCode.REBALANCE_IN_PROGRESS
        elif error is None and group is None:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        elif error is None and group is not None:
            error = sync(self.desk, group, asker, request, now_ms)
        if error is not None:
            self.desk.outbox.answer(asker, sync_error(error))
        return self._effects()

    def handle_heartbeat(self, asker: Asker, request: HeartbeatRequest, now_ms: int) -> Effects:
        error = self._refusal(request.group_id)
        group = self.desk.groups.get(request.group_id)
        if error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
            error = ErrorCode.NONE
        elif error is None and group is None:
            error = ErrorCode.UNKNOWN_MEMBER_ID
        elif error is None and group is not None:
            error = heartbeat(self.desk, group, request, now_ms)
        assert error is not None
        self.desk.outbox.answer(asker, HeartbeatResponse(error_code=error))
        return self._effects()

    def handle_leave(self, asker: Asker, request: LeaveGroupRequest, now_ms: int) -> Effects:
        if error := self._refusal(request.group_id):
            response = LeaveGroupResponse(error_code=error)
        else:
            group = self.desk.groups.get(request.group_id)
            response = leave(self.desk, group, leaving(request, asker.version), now_ms)
        self.desk.outbox.answer(asker, in_version(response, asker.version))
        return self._effects()

    def handle_offset_commit(
        self, asker: Asker, request: OffsetCommitRequest, now_ms: int
    ) -> Effects:
        error = self._refusal(request.group_id, may_be_empty=True)
        self._commit(Committer.of(asker, request, now_ms), error, now_ms)
        return self._effects()

    def handle_txn_offset_commit(
        self, asker: Asker, request: TxnOffsetCommitRequest, now_ms: int
    ) -> Effects:
        error = self._refusal(request.group_id)
        self._commit(Committer.of_transaction(asker, request, now_ms), error, now_ms)
        return self._effects()

    def _commit(self, committer: Committer, error: ErrorCode | None, now_ms: int) -> None:
        if error is not None:
            refuse(self.desk, committer, error)
        else:
            commit(self.desk, committer, now_ms)

    def handle_marker(self, producer_id: int, is_commit: bool, now_ms: int) -> Effects:
        """A transaction marker is safe in the log, and all that was appended before it."""
        if self.status is Status.ACTIVE:
            end_transaction(self.desk, producer_id, is_commit)
        return self._effects()

    def handle_offset_delete(
        self, asker: Asker, request: OffsetDeleteRequest, now_ms: int
    ) -> Effects:
        if error := self._refusal(request.group_id):
            self.desk.outbox.answer(asker, delete_response(error))
        else:
            group = self.desk.groups.get(request.group_id)
            partitions = [
                TopicPartition(topic.name, each.partition_index)
                for topic in request.topics
                for each in topic.partitions
            ]
            delete_offsets(self.desk, group, asker, partitions, now_ms)
        return self._effects()

    def handle_delete_group(self, asker: Asker, group_id: str, now_ms: int) -> Effects:
        """One group of a DeleteGroups: the answer is its `DeletableGroupResult`."""
        if error := self._refusal(group_id, may_be_empty=True):
            result = DeletableGroupResult(group_id=group_id, error_code=error)
            self.desk.outbox.answer(asker, result)
        else:
            delete_group(self.desk, group_id, asker, now_ms)
        return self._effects()

    def fetch_offsets(
        self, asked: OffsetFetchRequestGroup, require_stable: bool
    ) -> OffsetFetchResponseGroup:
        """One group of an OffsetFetch; `offsets_fetch.fetch_response` makes the whole."""
        if error := self._refusal(asked.group_id, may_be_empty=True):
            return fetch_error(asked, error)
        return fetch(self.desk.groups.get(asked.group_id), asked, require_stable)

    def describe_group(self, group_id: str) -> DescribedGroup:
        """One group of a DescribeGroups."""
        if error := self._refusal(group_id, may_be_empty=True):
            return described(group_id, error=error)
        return describe(group_id, self.desk.groups.get(group_id))

    def list_groups(self, states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
        """This shard's part of a ListGroups."""
        return list(list_groups(self.desk.groups.values(), states, types))

    def expire_offsets(self, now_ms: int) -> Effects:
        """Remove what is too old: every offsets.retention.check.interval.ms."""
        if self.status is Status.ACTIVE:
            expire(self.desk, now_ms)
        return self._effects()

    def forget_partitions(self, partitions: Collection[TopicPartition], now_ms: int) -> Effects:
        """Remove the offsets of partitions that were deleted."""
        if self.status is Status.ACTIVE:
            forget_partitions(self.desk, frozenset(partitions), now_ms)
        return self._effects()

    def appended(self, number: int, base_offset: int, now_ms: int) -> Effects:
        """A batch is safe in the log, its first record at this offset."""
        if write := self.desk.writes.pop(number, None):
            write.appended(self.desk, base_offset, now_ms)
        return self._effects()

    def append_failed(self, number: int, error: ErrorCode, now_ms: int) -> Effects:
        """A batch was refused by the log, or is not safe in time."""
        if write := self.desk.writes.pop(number, None):
            write.failed(self.desk, error, now_ms)
        return self._effects()

    def tick(self, now_ms: int) -> Effects:
        """Do what has become due."""
        while deadline := self.desk.deadlines.pop_due(now_ms):
            self._expire(deadline, now_ms)
        return self._effects()

    def _expire(self, deadline: Deadline, now_ms: int) -> None:
        desk = self.desk
        group = desk.groups.get(deadline.group_id)
        if group is None:
            return
        if deadline.kind is Kind.JOIN:
            end_join_wait(desk, group, now_ms)
        elif deadline.kind is Kind.SYNC:
            end_sync_wait(desk, group, now_ms)
        elif deadline.kind is Kind.PENDING_MEMBER:
            drop_pending(desk, group, deadline.member_id)
            complete_if_all_joined(desk, group, now_ms)
            desk.forget_if_nothing_stored(group.group_id)
        else:
            member = group.members[deadline.member_id]
            if not member.is_excused:
                remove_member(desk, group, member, now_ms)

    def _refusal(self, group_id: str, *, may_be_empty: bool = False) -> ErrorCode | None:
        """Why a request about this group cannot be looked at."""
        if not group_id and not may_be_empty:
            return ErrorCode.INVALID_GROUP_ID
        return None if self.status is Status.ACTIVE else self.status.value

    def _effects(self) -> Effects:
        return self.desk.outbox.take(self.desk.deadlines.next_ms())
