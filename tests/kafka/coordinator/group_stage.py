"""A shard with a log beside it, in virtual milliseconds: the shell's part, without a broker.

Tokens are numbers. Each may be answered once, in a version in which the answer can be written.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import TypedDict, TypeVar, Unpack

from odradek.kafka.coordinator.group_effects import Append, Asker, Effects
from odradek.kafka.coordinator.groups_desk import Limits
from odradek.kafka.coordinator.members import Client
from odradek.kafka.coordinator.offsets_commit import CommitWrite
from odradek.kafka.coordinator.offsets_fetch import asked_groups, fetch_response
from odradek.kafka.coordinator.offsets_removal import Removal
from odradek.kafka.coordinator.shard import Shard
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.batch import Batch, read_batches
from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.control import Marker, MarkerType, write_marker
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from odradek.kafka.wire.messages.delete_groups import DeletableGroupResult
from odradek.kafka.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from odradek.kafka.wire.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from odradek.kafka.wire.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberIdentity,
)
from odradek.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from odradek.kafka.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponsePartitions,
)
from odradek.kafka.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from odradek.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
)
from odradek.kafka.wire.schema import Message, Struct

START_MS = 1_700_000_000_000
SESSION_MS = 10_000
REBALANCE_MS = 60_000
PROMPT = Limits(initial_delay_ms=0)
CLIENT = Client("app", "/127.0.0.1")
RANGE = (("range", b"r"),)
S = TypeVar("S", bound=Struct)
CommitResponse = OffsetCommitResponse | TxnOffsetCommitResponse


def subscription(*topics: str) -> bytes:
    message = ConsumerProtocolSubscription(topics=list(topics))
    return b"\0\1" + b"".join(encode(message, 1))


class Joining(TypedDict, total=False):
    """What a JoinGroup may say beside who and where."""

    instance: str | None
    protocols: tuple[tuple[str, bytes], ...]
    protocol_type: str
    session_ms: int
    rebalance_ms: int


class Committing(TypedDict, total=False):
    """What an OffsetCommit may say beside the offsets."""

    group: str
    member_id: str
    generation: int
    instance: str | None
    metadata: str | None
    leader_epoch: int
    version: int
    retention_ms: int
    timestamp_ms: int


class Stage:
    """The shell of one shard: it appends, reports and keeps the answers."""

    def __init__(self, limits: Limits = PROMPT, log: Iterable[bytes] = (), now_ms: int = START_MS):
        self.limits = limits
        self.now_ms = now_ms
        self.log = list(log)
        batches = read_batches(memoryview(b"".join(self.log)))
        self.end_offset = max((batch.last_offset + 1 for batch in batches), default=0)
        self.answers: dict[int, Struct] = {}
        self.versions: dict[int, int] = {}
        self.tokens = count()
        self.uuids = count()
        self.is_holding = False  # Whether appends wait for `settle`.
        self.held: deque[Append] = deque()
        self.fails_with: ErrorCode | None = None
        self.deadline_ms: int | None = None
        self.shard = Shard(limits, lambda: f"uuid{next(self.uuids)}")

    def loaded(self) -> Stage:
        for data in self.log:
            for batch in read_batches(memoryview(data)):
                self.shard.load_batch(batch, self.now_ms)
        self.do(self.shard.finish_loading(self.now_ms))
        return self

    def restarted(self) -> Stage:
        """What another broker makes of the log."""
        stage = Stage(self.limits, self.log, self.now_ms)
        stage.uuids = self.uuids
        return stage.loaded()

    def do(self, effects: Effects) -> None:
        for token, response in effects.answers:
            assert isinstance(token, int)
            assert token not in self.answers, "answered twice"
            if isinstance(response, Message):
                encode(response, self.versions[token])
            self.answers[token] = response
        self.held.extend(effects.appends)
        self.deadline_ms = effects.deadline_ms
        if not self.is_holding:
            self.settle()

    def settle(self) -> None:
        """Write all that waits to be written, and say so."""
        while self.held:
            self.settle_one()

    def settle_one(self) -> None:
        append = self.held.popleft()
        if self.fails_with is not None:
            self.do(self.shard.append_failed(append.number, self.fails_with, self.now_ms))
        else:
            base_offset = self.write(append.batch())
            self.do(self.shard.appended(append.number, base_offset, self.now_ms))

    def write(self, data: bytearray) -> int:
        batch = Batch(memoryview(data))
        batch.stamp(self.end_offset, 0)
        base_offset, self.end_offset = self.end_offset, batch.last_offset + 1
        self.log.append(bytes(data))
        return base_offset

    def pass_ms(self, duration_ms: int) -> None:
        """Let time go by, with a tick whenever one was asked for."""
        end_ms = self.now_ms + duration_ms
        while self.deadline_ms is not None and self.deadline_ms <= end_ms:
            self.now_ms = max(self.now_ms, self.deadline_ms)
            self.do(self.shard.tick(self.now_ms))
        self.now_ms = end_ms

    def forgotten(self) -> set[int]:
        """Requests that were not answered, and for which nobody keeps a place."""
        members = [m for group in self.shard.desk.groups.values() for m in group.members.values()]
        askers = [asker for m in members for asker in (m.joining, m.syncing)]
        for write in self.shard.desk.writes.values():
            if isinstance(write, CommitWrite):
                askers.append(write.committer.asker)
            elif isinstance(write, Removal):
                askers.append(write.asker)
        kept = {asker.token for asker in askers if asker is not None}
        return self.versions.keys() - self.answers.keys() - kept

    def asker(self, version: int) -> Asker:
        token = next(self.tokens)
        self.versions[token] = version
        return Asker(token, version)

    def answer(self, token: int, kind: type[S]) -> S:
        response = self.answers[token]
        assert isinstance(response, kind)
        return response

    # Requests. Those that may wait return a token, the others their answer.

    def ask_join(
        self,
        member_id: str = "",
        *,
        group: str = "g",
        version: int = 9,
        client: Client = CLIENT,
        **how: Unpack[Joining],
    ) -> int:
        asker = self.asker(version)
        request = JoinGroupRequest(
            group_id=group,
            session_timeout_ms=how.get("session_ms", SESSION_MS),
            rebalance_timeout_ms=how.get("rebalance_ms", REBALANCE_MS),
            member_id=member_id,
            group_instance_id=how.get("instance"),
            protocol_type=how.get("protocol_type", "consumer"),
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in how.get("protocols", RANGE)
            ],
        )
        self.do(self.shard.handle_join(asker, request, client, self.now_ms))
        assert isinstance(asker.token, int)
        return asker.token

    def joined(self, token: int) -> JoinGroupResponse:
        return self.answer(token, JoinGroupResponse)

    def ask_sync(
        self,
        member_id: str,
        generation: int,
        assignments: dict[str, bytes] | None = None,
        *,
        group: str = "g",
        instance: str | None = None,
        protocol: str | None = None,
    ) -> int:
        asker = self.asker(5)
        request = SyncGroupRequest(
            group_id=group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance,
            protocol_name=protocol,
            assignments=[
                SyncGroupRequestAssignment(member_id=each, assignment=assignment)
                for each, assignment in (assignments or {}).items()
            ],
        )
        self.do(self.shard.handle_sync(asker, request, self.now_ms))
        assert isinstance(asker.token, int)
        return asker.token

    def synced(self, token: int) -> SyncGroupResponse:
        return self.answer(token, SyncGroupResponse)

    def heartbeat(
        self, member_id: str, generation: int, *, group: str = "g", instance: str | None = None
    ) -> int:
        asker = self.asker(4)
        request = HeartbeatRequest(
            group_id=group,
            generation_id=generation,
            member_id=member_id,
            group_instance_id=instance,
        )
        self.do(self.shard.handle_heartbeat(asker, request, self.now_ms))
        return self._answer_of(asker, HeartbeatResponse).error_code

    def leave(self, *members: tuple[str, str | None], group: str = "g") -> list[int]:
        asker = self.asker(5)
        identities = [MemberIdentity(member_id=m, group_instance_id=i) for m, i in members]
        request = LeaveGroupRequest(group_id=group, members=identities)
        self.do(self.shard.handle_leave(asker, request, self.now_ms))
        response = self._answer_of(asker, LeaveGroupResponse)
        return [response.error_code] if response.error_code else errors_of_members(response)

    def leave_alone(self, member_id: str, *, group: str = "g") -> int:
        asker = self.asker(2)
        request = LeaveGroupRequest(group_id=group, member_id=member_id)
        self.do(self.shard.handle_leave(asker, request, self.now_ms))
        return self._answer_of(asker, LeaveGroupResponse).error_code

    def ask_commit(
        self,
        offsets: dict[tuple[str, int], int],
        **how: Unpack[Committing],
    ) -> int:
        asker = self.asker(how.get("version", 9))
        request = OffsetCommitRequest(
            group_id=how.get("group", "g"),
            generation_id_or_member_epoch=how.get("generation", -1),
            member_id=how.get("member_id", ""),
            group_instance_id=how.get("instance"),
            retention_time_ms=how.get("retention_ms", -1),
            topics=[
                OffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        OffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_leader_epoch=how.get("leader_epoch", -1),
                            commit_timestamp=how.get("timestamp_ms", -1),
                            committed_metadata=how.get("metadata", ""),
                        )
                    ],
                )
                for (topic, partition), offset in offsets.items()
            ],
        )
        self.do(self.shard.handle_offset_commit(asker, request, self.now_ms))
        assert isinstance(asker.token, int)
        return asker.token

    def commit_errors(self, token: int) -> set[int]:
        response = self.answers[token]
        assert isinstance(response, CommitResponse)
        return {each.error_code for topic in response.topics for each in topic.partitions}

    def commit(self, offsets: dict[tuple[str, int], int], **how: Unpack[Committing]) -> set[int]:
        return self.commit_errors(self.ask_commit(offsets, **how))

    def ask_txn_commit(
        self,
        offsets: dict[tuple[str, int], int],
        producer_id: int = 7,
        *,
        group: str = "g",
        member_id: str = "",
        generation: int = -1,
        version: int = 3,
    ) -> int:
        asker = self.asker(version)
        request = TxnOffsetCommitRequest(
            transactional_id="t",
            group_id=group,
            producer_id=producer_id,
            producer_epoch=0,
            generation_id=generation,
            member_id=member_id,
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=topic,
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=partition,
                            committed_offset=offset,
                            committed_metadata=None,
                        )
                    ],
                )
                for (topic, partition), offset in offsets.items()
            ],
        )
        self.do(self.shard.handle_txn_offset_commit(asker, request, self.now_ms))
        assert isinstance(asker.token, int)
        return asker.token

    def end_transaction(self, producer_id: int = 7, *, is_commit: bool) -> None:
        """Write the marker, and what was appended before it."""
        self.settle()
        marker = Marker(MarkerType.COMMIT if is_commit else MarkerType.ABORT, 0)
        data = write_marker(marker, producer_id=producer_id, producer_epoch=0, now_ms=self.now_ms)
        self.write(data)
        self.do(self.shard.handle_marker(producer_id, is_commit, self.now_ms))

    def fetched(
        self, *partitions: tuple[str, int], group: str = "g", require_stable: bool = False
    ) -> list[OffsetFetchResponsePartitions]:
        """All partitions' answers, or those of the ones named."""
        topics = [OffsetFetchRequestTopics(name=t, partition_indexes=[p]) for t, p in partitions]
        asked = OffsetFetchRequestGroup(group_id=group, topics=topics or None)
        answer = self.shard.fetch_offsets(asked, require_stable)
        encode(fetch_response([answer], 9), 9)
        return [each for topic in answer.topics for each in topic.partitions]

    def offset(self, topic: str = "t", partition: int = 0, *, group: str = "g") -> int:
        return self.fetched((topic, partition), group=group)[0].committed_offset

    def delete_offsets(
        self, *partitions: tuple[str, int], group: str = "g"
    ) -> OffsetDeleteResponse:
        asker = self.asker(0)
        topics = [
            OffsetDeleteRequestTopic(
                name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=partition)]
            )
            for topic, partition in partitions
        ]
        request = OffsetDeleteRequest(group_id=group, topics=topics)
        self.do(self.shard.handle_offset_delete(asker, request, self.now_ms))
        return self._answer_of(asker, OffsetDeleteResponse)

    def ask_delete(self, group: str = "g") -> int:
        asker = self.asker(2)
        self.do(self.shard.handle_delete_group(asker, group, self.now_ms))
        assert isinstance(asker.token, int)
        return asker.token

    def delete(self, group: str = "g") -> int:
        return self.answer(self.ask_delete(group), DeletableGroupResult).error_code

    def expire(self) -> None:
        self.do(self.shard.expire_offsets(self.now_ms))

    def forget(self, *partitions: tuple[str, int]) -> None:
        gone = [TopicPartition(*each) for each in partitions]
        self.do(self.shard.forget_partitions(gone, self.now_ms))

    def state(self, group: str = "g") -> str:
        return self.shard.describe_group(group).group_state

    def unload(self) -> None:
        self.do(self.shard.unload())

    def _answer_of(self, asker: Asker, kind: type[S]) -> S:
        assert isinstance(asker.token, int)
        return self.answer(asker.token, kind)

    # Longer stories.

    def new_id(self, *, group: str = "g", **how: Unpack[Joining]) -> str:
        """A member id, as version 4 and later are given one first."""
        response = self.joined(self.ask_join(group=group, **how))
        assert response.error_code == ErrorCode.MEMBER_ID_REQUIRED
        return response.member_id

    def stable_group(self, size: int, *, group: str = "g", **how: Unpack[Joining]) -> list[str]:
        """Have members join together and share out their work; the leader is the first."""
        ids = [self.new_id(group=group, **how) for _ in range(size)]
        for member_id in ids:
            self.ask_join(member_id, group=group, **how)
        self.rejoin_all(ids, group=group, **how)
        return ids

    def rejoin_all(self, ids: list[str], *, group: str = "g", **how: Unpack[Joining]) -> int:
        """Everyone joins again, and syncs; the generation that comes of it."""
        tokens = [self.ask_join(each, group=group, **how) for each in ids]
        answers = [self.joined(token) for token in tokens]
        (generation,) = {answer.generation_id for answer in answers}
        leader = answers[0].leader
        given = {each: f"work of {each}".encode() for each in ids}
        for each in [leader, *(other for other in ids if other != leader)]:
            self.ask_sync(each, generation, given if each == leader else {}, group=group)
        assert self.state(group) == "Stable"
        return generation


def errors_of_members(response: LeaveGroupResponse) -> list[int]:
    return [member.error_code for member in response.members]


def fetch_in_version(stage: Stage, request: OffsetFetchRequest, version: int) -> Message:
    """A whole OffsetFetch, as the shell puts it together."""
    groups = [
        stage.shard.fetch_offsets(asked, request.require_stable)
        for asked in asked_groups(request, version)
    ]
    response = fetch_response(groups, version)
    encode(response, version)
    return response
