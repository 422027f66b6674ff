"""OffsetCommit and TxnOffsetCommit: a group writes down how far it has come.

Only members of the current generation may, or anyone while the group is empty (consumers that
assign partitions by hand, and tools); transactional producers older than version 3 cannot say who
they are, and are believed. An offset is visible once its record is safe in the log, one of a
transaction when the transaction commits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from odradek.kafka.coordinator.group import Group, State
from odradek.kafka.coordinator.group_answers import UNKNOWN_MEMBER
from odradek.kafka.coordinator.group_effects import Asker
from odradek.kafka.coordinator.group_errors import commit_error
from odradek.kafka.coordinator.group_records import write_offsets
from odradek.kafka.coordinator.groups_desk import Desk
from odradek.kafka.coordinator.groups_sync import generation_error
from odradek.kafka.coordinator.offsets import CommittedOffset, Logged
from odradek.kafka.coordinator.offsets_answers import (
    commit_response,
    same_commit_response,
    txn_commit_response,
)
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch_writer import Envelope
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.offset_commit import OffsetCommitRequest
from odradek.kafka.wire.messages.txn_offset_commit import TxnOffsetCommitRequest

NO_RETENTION_TIME = NO_TIMESTAMP = -1
KEPT_NUMBERS = range(1024)  # Partitions with others are made each time.
PLAIN_COMMIT = Envelope(base_sequence=0)  # As Kafka writes it, though no producer counts.

Commits = dict[TopicPartition, CommittedOffset]


class Committer(NamedTuple):
    """Who commits, and what."""

    asker: Asker
    group_id: str
    generation_id: int
    member_id: str
    instance_id: str | None
    commits: Commits
    envelope: Envelope = PLAIN_COMMIT  # Of the batch that says so.

    @classmethod
    def of(cls, asker: Asker, request: OffsetCommitRequest, now_ms: int) -> Committer:
        return cls(
            asker,
            request.group_id,
            request.generation_id_or_member_epoch,
            request.member_id,
            request.group_instance_id,
            plain_commits(request, now_ms),
        )

    @classmethod
    def of_transaction(
        cls, asker: Asker, request: TxnOffsetCommitRequest, now_ms: int
    ) -> Committer:
        return cls(
            asker,
            request.group_id,
            request.generation_id,
            request.member_id,
            request.group_instance_id,
            transactional_commits(request, now_ms),
            Envelope(
                producer_id=request.producer_id,
                producer_epoch=request.producer_epoch,
                base_sequence=0,
                is_transactional=True,
            ),
        )


def plain_commits(request: OffsetCommitRequest, now_ms: int) -> Commits:
    retention_ms = request.retention_time_ms
    expire_ms = NO_TIMESTAMP if retention_ms == NO_RETENTION_TIME else now_ms + retention_ms
    commits: Commits = {}
    new = tuple.__new__  # What the class itself calls, at a third of the price.
    for topic in request.topics:
        named = kept_partitions(topic.name)
        for each in topic.partitions:
            dated_ms = each.commit_timestamp
            told = (
                each.committed_offset,
                each.committed_leader_epoch,
                each.committed_metadata or "",
                now_ms if dated_ms == NO_TIMESTAMP else dated_ms,
                expire_ms,
            )
            commits[named[each.partition_index]] = new(CommittedOffset, told)
    return commits


class Partitions(dict[int, TopicPartition]):
    """The partitions of a topic by their numbers, made when first asked for."""

    def __init__(self, topic: str) -> None:
        self.topic = topic

    def __missing__(self, number: int) -> TopicPartition:
        partition = TopicPartition(self.topic, number)
        if number in KEPT_NUMBERS:
            self[number] = partition
        return partition


@lru_cache(maxsize=4096)
def kept_partitions(topic: str) -> Partitions:
    """The same objects each time: what a group commits, it commits again and again."""
    return Partitions(topic)


def transactional_commits(request: TxnOffsetCommitRequest, now_ms: int) -> Commits:
    return {
        TopicPartition(topic.name, each.partition_index): CommittedOffset(
            each.committed_offset,
            each.committed_leader_epoch,
            each.committed_metadata or "",
            now_ms,
        )
        for topic in request.topics
        for each in topic.partitions
    }


def commit(desk: Desk, committer: Committer, now_ms: int) -> None:
    """Handle a commit: refuse it, or have it written and answer then."""
    group = desk.groups.get(committer.group_id)
    if group is None and committer.generation_id >= 0 and not committer.envelope.is_transactional:
        refuse(desk, committer, ErrorCode.ILLEGAL_GENERATION)
        return
    group = group or Group(committer.group_id, now_ms)
    if error := commit_refusal(group, committer):
        refuse(desk, committer, error)
        return
    member = group.members.get(committer.member_id)
    if member is not None and not committer.envelope.is_transactional:
        desk.hear_from(member, now_ms)
    store(desk, group, committer, now_ms)


def commit_refusal(group: Group, committer: Committer) -> ErrorCode | None:
    state, generation_id = group.state, committer.generation_id
    if state is State.DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if generation_id < 0 and state is State.EMPTY:
        return None
    member_id, instance_id = committer.member_id, committer.instance_id
    if generation_id < 0 and member_id == UNKNOWN_MEMBER and instance_id is None:
        return None if committer.envelope.is_transactional else ErrorCode.UNKNOWN_MEMBER_ID
    if error := generation_error(group, member_id, instance_id, generation_id):
        return error
    if state is State.COMPLETING and not committer.envelope.is_transactional:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return None


def refuse(desk: Desk, committer: Committer, error: ErrorCode) -> None:
    answer_all(desk, committer, error)


def answer_all(desk: Desk, committer: Committer, error: ErrorCode) -> None:
    """Say the same of all partitions."""
    if committer.envelope.is_transactional:
        answer(desk, committer, dict.fromkeys(committer.commits, error))
    else:
        desk.outbox.answer(committer.asker, same_commit_response(committer.commits, error))


def answer(desk: Desk, committer: Committer, errors: dict[TopicPartition, ErrorCode]) -> None:
    asker = committer.asker
    if committer.envelope.is_transactional:
        desk.outbox.answer(asker, txn_commit_response(errors, asker.version))
    else:
        desk.outbox.answer(asker, commit_response(errors))


def store(desk: Desk, group: Group, committer: Committer, now_ms: int) -> None:
    """Have those offsets written whose metadata is not too long."""
    length_max = desk.limits.metadata_length_max
    accepted = committer.commits
    too_long = {
        partition
        for partition, committed in accepted.items()
        if committed.metadata and java_length(committed.metadata) > length_max
    }
    if too_long:
        accepted = {where: it for where, it in accepted.items() if where not in too_long}
    if not accepted:
        refuse(desk, committer, ErrorCode.OFFSET_METADATA_TOO_LARGE)
        return
    desk.groups[group.group_id] = group
    write = CommitWrite(group, committer, accepted)
    records = write_offsets(group.group_id, accepted)
    write.number = desk.append(records, write, now_ms, committer.envelope)
    group.offsets.send(accepted, write.number)


def java_length(text: str) -> int:
    """The length as Java counts it: in UTF-16 units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", errors="surrogatepass")) // 2


@dataclass(slots=True)
class CommitWrite:
    """Offsets on their way to the log."""

    group: Group
    committer: Committer
    accepted: Commits
    number: int = -1

    def appended(self, desk: Desk, base_offset: int, now_ms: int) -> None:
        offsets, envelope = self.group.offsets, self.committer.envelope
        offsets.arrive(self.number)
        desk.figures.offsets_committed += len(self.accepted)
        if envelope.is_transactional:
            producer_id = envelope.producer_id
            for partition, committed in self.accepted.items():
                offsets.hold(producer_id, partition, Logged(committed, base_offset))
            desk.open_for_producer.setdefault(producer_id, {})[self.group.group_id] = None
        else:
            offsets.put_all(self.accepted, base_offset)
        self._answer(desk, ErrorCode.NONE)

    def failed(self, desk: Desk, error: ErrorCode, now_ms: int) -> None:
        self.group.offsets.arrive(self.number)
        desk.forget_if_nothing_stored(self.group.group_id)
        self._answer(desk, commit_error(error))

    def _answer(self, desk: Desk, error: ErrorCode) -> None:
        commits = self.committer.commits
        if len(self.accepted) == len(commits):
            answer_all(desk, self.committer, error)
            return
        refused = commits.keys() - self.accepted.keys()
        errors = dict.fromkeys(commits, error)
        errors.update(dict.fromkeys(refused, ErrorCode.OFFSET_METADATA_TOO_LARGE))
        answer(desk, self.committer, errors)
