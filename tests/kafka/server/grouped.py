"""Simulated members of a group: they join, share out, read, commit, hang and leave.

One process of a member has one life at a time: a member that was killed or has left joins again as
a new one, or as the same if it is static. Eager members give up all before they join; cooperative
ones keep what they have, and what is to move is given up in one round and taken in the next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from random import Random

from odradek.kafka.wire.codec import encode
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.consumer_protocol import (
    ConsumerProtocolSubscription,
    ConsumerProtocolSubscriptionTopicPartition,
)
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
from odradek.kafka.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from odradek.kafka.wire.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from odradek.simulation.processes import Environment
from tests.kafka.broker.asking import records_of
from tests.kafka.server.assigning import Owned, owned_by, share_evenly, share_stickily
from tests.kafka.server.conversing import GROUP, Client
from tests.kafka.server.group_book import GroupBook

SESSION_MS = 2000
REBALANCE_MS = 4000
HEARTBEAT_S = 0.4
LEAVE_CHANCE = 0.004
HANG_CHANCE = 0.004
HANG_S = 4.0  # Longer than a session.


class Rejoin(Exception):
    """The group goes on without us, or waits for us."""


class Fenced(Exception):
    """Another process has our name."""


class Member:
    """What all lives of one member have in common."""

    def __init__(
        self,
        ids: Sequence[int],
        book: GroupBook,
        topic: str,
        partitions: int,
        *,
        group: str = "g",
        instance: str | None = None,
        is_cooperative: bool = False,
    ) -> None:
        self.ids = ids
        self.book = book
        self.topic = topic
        self.partitions = partitions
        self.group = group
        self.instance = instance
        self.is_cooperative = is_cooperative
        self.is_calm = False  # No more leaving and hanging: all is to end well.
        self.life: MemberLife | None = None

    async def run(self, environment: Environment) -> None:
        while True:
            self.life = MemberLife(self, environment.random)
            try:
                await self.life.run()
            except Fenced:
                self.book.counts["fenced"] += 1
            await asyncio.sleep(environment.random.uniform(0.1, 1.5))


class MemberLife(Client):
    """A member from its first join to its leaving."""

    def __init__(self, member: Member, random: Random) -> None:
        super().__init__(member.ids, "member")
        self.generation = -1
        self.positions: dict[int, int] = {}  # Of the partitions that it owns.
        self.member_id = ""
        self.is_asked_to_rejoin = False  # By whoever looks after the group.
        self._member = member
        self._book = member.book
        self._random = random
        self._owned_since = -1  # The generation of its last assignment.
        self._what = GROUP, member.group
        self._heartbeat_at = 0.0
        self._unsaved: dict[int, int] = {}  # Read, not yet committed.

    @property
    def name(self) -> str:
        return self._member.instance or self.member_id

    async def run(self) -> None:
        """Until it has left."""
        await self.find_coordinator(self._member.group, GROUP)
        while True:
            try:
                await self._join()
                await self._read_on()
            except Rejoin:
                if not self._member.is_cooperative:
                    self._give_up(set(self.positions))
                continue
            await self._leave()
            return

    # Joining

    async def _join(self) -> None:
        while True:
            answer = await self.ask(self._what, self._join_request(), 7, JoinGroupResponse)
            code = answer.error_code
            if code == ErrorCode.MEMBER_ID_REQUIRED:
                self.member_id = answer.member_id
            elif not await self._react(code):
                break
        self.member_id, self.generation = answer.member_id, answer.generation_id
        is_leader = answer.leader == answer.member_id
        await self._sync(self._share(answer) if is_leader else {})

    def _join_request(self) -> JoinGroupRequest:
        member = self._member
        owned = [
            ConsumerProtocolSubscriptionTopicPartition(
                topic=member.topic, partitions=sorted(self.positions)
            )
        ]
        subscription = ConsumerProtocolSubscription(
            topics=[member.topic], owned_partitions=owned, generation_id=self._owned_since
        )
        metadata = b"\0\2" + b"".join(encode(subscription, 2))
        name = "cooperative-sticky" if member.is_cooperative else "range"
        return JoinGroupRequest(
            group_id=member.group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self.member_id,
            group_instance_id=member.instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name=name, metadata=metadata)],
        )

    def _share(self, answer: JoinGroupResponse) -> Mapping[str, Sequence[int]]:
        owned: Owned = {it.member_id: owned_by(it.metadata) for it in answer.members}
        share = share_stickily if self._member.is_cooperative else share_evenly
        shares = share(self._member.partitions, owned)
        self._book.shared(self.generation, self._member.partitions, shares)
        return shares

    async def _sync(self, shares: Mapping[str, Sequence[int]]) -> None:
        request = SyncGroupRequest(
            group_id=self._member.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self._member.instance,
            assignments=[
                SyncGroupRequestAssignment(member_id=each, assignment=bytes(share))
                for each, share in shares.items()
            ],
        )
        while True:
            answer = await self.ask(self._what, request, 3, SyncGroupResponse)
            if not await self._react(answer.error_code):
                break
        await self._own(set(answer.assignment))

    async def _own(self, partitions: set[int]) -> None:
        """Take what is new, give up what is another's now."""
        self._book.assigned(self.generation, self.name, sorted(partitions))
        self._owned_since = self.generation
        lost = set(self.positions) - partitions
        self._give_up(lost)
        for partition in sorted(partitions - set(self.positions)):
            await self._begin(partition)
        if lost:
            raise Rejoin  # So that others may have it: the second round of cooperation.

    def _give_up(self, partitions: set[int]) -> None:
        for partition in partitions:
            del self.positions[partition]
            self._unsaved.pop(partition, None)

    async def _begin(self, partition: int) -> None:
        asked = [OffsetFetchRequestTopic(name=self._member.topic, partition_indexes=[partition])]
        request = OffsetFetchRequest(
            group_id=self._member.group, topics=asked, groups=[], require_stable=True
        )
        while True:
            question = self._book.ask()
            answer = await self.ask(self._what, request, 7, OffsetFetchResponse)
            if await self._react(answer.error_code):
                continue
            found = answer.topics[0].partitions[0]
            if not await self._react(found.error_code):
                break
        offset = max(0, found.committed_offset)
        self._book.fetched(question, partition, offset)
        self.positions[partition] = offset

    # Reading

    async def _read_on(self) -> None:
        """Until it has had enough."""
        while True:
            for partition in sorted(self.positions):
                await self._read(partition)
                await self._beat()
            if self.is_asked_to_rejoin:
                self.is_asked_to_rejoin = False
                raise Rejoin
            if not self._member.is_calm:
                if self._random.random() < LEAVE_CHANCE:
                    return
                if self._random.random() < HANG_CHANCE:
                    self._book.counts["hangs"] += 1
                    await asyncio.sleep(HANG_S)
                    await self._commit()  # As if nothing had happened.
            if self._random.random() < 0.3:
                await self._commit()
            await self._beat()
            await asyncio.sleep(0.02)

    async def _read(self, partition: int) -> None:
        position = self.positions[partition]
        data = await self.fetch(self._member.topic, partition, position, bytes_max=300)
        if data is None:
            return
        for record in records_of(data):
            if record.offset >= self.positions[partition]:  # A batch comes whole.
                self._book.consumed(partition, record.offset, record.value)
                self.positions[partition] = self._unsaved[partition] = record.offset + 1

    async def _beat(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._heartbeat_at < HEARTBEAT_S:
            return
        self._heartbeat_at = now
        request = HeartbeatRequest(
            group_id=self._member.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self._member.instance,
        )
        answer = await self.ask_once(self._what, request, 3, HeartbeatResponse)
        if answer is None:
            return
        if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
            await self._commit()  # While what was read is still ours.
        await self._react(answer.error_code)

    async def _commit(self) -> None:
        offsets = dict(self._unsaved)
        if not offsets:
            return
        request = commit_request(
            self._member.group,
            self._member.topic,
            offsets,
            generation=self.generation,
            member_id=self.member_id,
            instance=self._member.instance,
        )
        while True:
            question = self._book.ask()
            answer = await self.ask(self._what, request, 7, OffsetCommitResponse)
            codes = {it.error_code for topic in answer.topics for it in topic.partitions}
            code = max(codes)
            if code == ErrorCode.REBALANCE_IN_PROGRESS or not await self._react(code):
                break
        if code == ErrorCode.NONE:
            self._book.acknowledged(question, self.generation, offsets)
            self._unsaved.clear()

    # Leaving

    async def _leave(self) -> None:
        """Say goodbye once; who is static does not."""
        self._give_up(set(self.positions))
        if self._member.instance is not None:
            return
        self._book.counts["leaves"] += 1
        identity = MemberIdentity(member_id=self.member_id)
        request = LeaveGroupRequest(group_id=self._member.group, members=[identity])
        await self.ask_once(self._what, request, 3, LeaveGroupResponse)

    async def _react(self, code: int) -> bool:
        """Whether to ask again; what is more than that is raised."""
        match code:
            case ErrorCode.REBALANCE_IN_PROGRESS:
                raise Rejoin
            case ErrorCode.ILLEGAL_GENERATION | ErrorCode.UNKNOWN_MEMBER_ID:
                if code == ErrorCode.UNKNOWN_MEMBER_ID:
                    self.member_id = ""
                self._give_up(set(self.positions))
                self.generation = self._owned_since = -1
                raise Rejoin
            case ErrorCode.FENCED_INSTANCE_ID:
                raise Fenced
        if code == ErrorCode.NOT_COORDINATOR:
            await self.find_coordinator(self._member.group, GROUP)
            await asyncio.sleep(0.05)
            return True
        return await self.settle(self._what, code)


def commit_request(
    group: str,
    topic: str,
    offsets: Mapping[int, int],
    *,
    generation: int = -1,
    member_id: str = "",
    instance: str | None = None,
) -> OffsetCommitRequest:
    """Of a member in a generation, or of somebody who is in none."""
    committed = [
        OffsetCommitRequestPartition(
            partition_index=partition, committed_offset=offset, committed_metadata=""
        )
        for partition, offset in offsets.items()
    ]
    return OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        group_instance_id=instance,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=committed)],
    )
