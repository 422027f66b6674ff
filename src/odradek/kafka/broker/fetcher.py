"""A fetch loop: what this broker follows of one leader, over one connection.

One question is under way at a time. What an answer brings is in the log, and flushed where the
topic promises that, before the next question says so: its offsets are what the leader counts as
replicated. Partitions that must first agree with the leader, or rest after an error, are set aside;
the others go on. `replication/follower.py` has the rules, `broker/comparing.py` does the cutting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

from odradek.kafka.broker.comparing import Comparing, TurnOf
from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.peers import Peer, PeerLost
from odradek.kafka.controller.versions import FETCH, newest
from odradek.kafka.replication.fetch_request import Requests, Terms
from odradek.kafka.replication.fetch_session import FetchSession, Wanted
from odradek.kafka.replication.follower import (
    FIRST_PAUSE_MS,
    UNKNOWN,
    Cut,
    EpochEnd,
    Following,
    Restart,
    Step,
)
from odradek.kafka.storage.entries import cut
from odradek.kafka.storage.errors import DISK_TROUBLE, UnexpectedOffset
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.fetch import FetchResponse, PartitionData
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.disk import DiskFull
from odradek.runtime.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker

LAST_WITH_NAMES = 12
FIRST_WITH_DIVERGING = 12


class Fetcher:
    """All that is followed of one leader through one connection."""

    def __init__(self, broker: Broker, leader_id: int, turn_of: TurnOf) -> None:
        self.leader_id = leader_id
        self.followed: dict[TopicPartition, Following] = {}
        self.task: asyncio.Task[None] | None = None
        self._broker = broker
        self._quotas = broker.replication_quotas
        self._note = broker.note.about(f"fetcher of {leader_id}")
        self._comparing = Comparing(broker, turn_of, self._note)
        self._session = FetchSession()
        self._newest = newest(FETCH, broker.settings.inter_broker_protocol_version)
        self._listener = broker.settings.inter_broker_listener_name  # As long as a broker runs.
        self._requests = Requests()
        self._aside: dict[TopicPartition, None] = {}  # What is not fetched just now.
        self._without_id: set[TopicPartition] = set()
        self._wake = asyncio.Event()
        self._peer: Peer | None = None
        self._pause_ms = 0
        self._is_lost = False  # Whether it was told that the leader does not answer.

    # Who is followed

    def add(self, following: Following) -> None:
        """Follow a partition, in the epoch that is given."""
        where = following.where
        self.remove(where)
        self.followed[where] = following
        partition = self._comparing.partition_of(following)
        if partition is not None:
            knows_diverging = self._version >= FIRST_WITH_DIVERGING
            following.begin(partition.log, knows_diverging=knows_diverging)
        if following.topic_id == ZERO_UUID:
            self._without_id.add(where)
        self._set_aside(following)
        self._wake.set()

    def remove(self, where: TopicPartition) -> None:
        self.followed.pop(where, None)
        self._aside.pop(where, None)
        self._without_id.discard(where)
        self._session.drop(where)

    def wake(self) -> None:
        """The leader may be found elsewhere, or again."""
        self._wake.set()

    def close(self) -> None:
        if self.task is not None:
            self.task.cancel()

    # The loop

    async def run(self) -> None:
        try:
            while True:
                await self._turn()
        finally:
            if self._peer is not None:
                self._peer.close()

    async def _turn(self) -> None:
        try:
            peer = self._peer_now()
            if self._aside:
                await self._settle(peer)
            if self._quotas.follower:
                self._hold_back()
            if self._session.wanted:
                await self._fetch(peer)
            else:
                await self._rest(self._until_ready_ms())
                return
        except PeerLost as error:
            self._session.lost()
            if not self._is_lost:
                self._note.warning("nothing is fetched: %s", error)
            self._is_lost = True
            self._pause_ms = min(self._pause_max_ms, max(FIRST_PAUSE_MS, 2 * self._pause_ms))
            await self._rest(self._pause_ms)
        else:
            self._pause_ms, self._is_lost = 0, False

    async def _rest(self, longest_ms: int | None) -> None:
        """Wait for something to do."""
        timeout_s = None if longest_ms is None else longest_ms / 1000
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    def _until_ready_ms(self) -> int | None:
        if not self._aside:
            return None
        first_ms = min(self.followed[where].not_before_ms for where in self._aside)
        return max(1, first_ms - self._broker.steady_clock())

    def _peer_now(self) -> Peer:
        endpoint = self._broker.metadata.endpoint(self.leader_id, self._listener)
        if endpoint is None:
            raise PeerLost(f"broker {self.leader_id} is not known to live")
        if self._peer is None or self._peer.endpoint != endpoint:
            if self._peer is not None:
                self._peer.close()
            timeout_s = self._broker.settings.replica_socket_timeout_ms / 1000
            name = f"broker-{self._broker.id}-fetcher-{self.leader_id}"
            self._peer = Peer(endpoint, name, timeout_s)
        return self._peer

    # Before fetching

    async def _settle(self, peer: Peer) -> None:
        """Have those that were set aside agree with the leader, and be fetched."""
        ready = list(self._ready_aside())
        if not ready:
            return
        await self._comparing.settle(peer, [it for it in ready if it.step is not Step.FETCH])
        for following in ready:
            if following.step is Step.FETCH and following.is_ready(self._broker.steady_clock()):
                self._want(following)

    def _ready_aside(self) -> Iterator[Following]:
        now_ms = self._broker.steady_clock()
        for where in list(self._aside):
            following = self.followed[where]
            if following.is_ready(now_ms):
                yield following

    def _want(self, following: Following) -> None:
        """Have the next question ask for what comes after what we have."""
        partition = self._comparing.partition_of(following)
        if partition is not None:  # Else it is about to be removed.
            self._want_of(following, partition)

    def _want_of(self, following: Following, partition: Partition) -> None:
        where = following.where
        if self.followed.get(where) is not following:
            return
        log, knows_diverging = partition.log, self._version >= FIRST_WITH_DIVERGING
        self._aside.pop(where, None)
        self._session.want(
            where,
            Wanted(
                following.topic_id,
                following.leader_epoch,
                log.end_offset,
                following.last_fetched_epoch(log) if knows_diverging else UNKNOWN,
                log.start_offset,
                self._broker.settings.replica_fetch_max_bytes,
            ),
        )

    def _hold_back(self) -> None:
        """Leave out what is limited and not in sync, while too much is fetched (KIP-73)."""
        quotas, pause_max_ms = self._quotas, self._pause_max_ms
        for where in list(self._session.wanted):
            following = self.followed[where]
            pause_ms = quotas.follower_pause_ms(*where, is_in_sync=following.is_in_sync)
            if pause_ms:
                following.hold_back(self._broker.steady_clock(), min(pause_ms, pause_max_ms))
                self._set_aside(following)

    def _set_aside(self, following: Following) -> None:
        following.is_asked = False
        self._session.drop(following.where)
        self._aside[following.where] = None

    # Fetching

    @property
    def _pause_max_ms(self) -> int:
        return self._broker.settings.replica_fetch_backoff_ms

    @property
    def _version(self) -> int:
        return min(self._newest, LAST_WITH_NAMES) if self._without_id else self._newest

    async def _fetch(self, peer: Peer) -> None:
        version = self._version
        question = self._session.ask(version)
        for where in question.asked:
            self.followed[where].is_asked = True
        request = self._requests.write(question, self._terms(version))
        answer = await peer.ask(request, version)
        assert isinstance(answer, FetchResponse)
        if not self._session.answered(answer):
            self._note.info("begins another session: %s", ErrorCode(answer.error_code).name)
            return
        parted: list[tuple[Following, Cut | Restart]] = []
        grown: list[Partition] = []
        for following, data in self._told(answer):
            partition = self._asked_of(following)
            if partition is None:
                continue
            if restart := restart_for(partition.log, data):
                await self._comparing.carry_out([(following, restart)])
                if self._asked_of(following) is not partition:
                    continue
            self._take(following, partition, data, parted, grown)
        if parted:
            await self._comparing.carry_out(parted)
            for following, _ in parted:
                self._want(following)
        if any(map(is_flush_due, grown)):
            await self._flush(grown)

    def _told(self, answer: FetchResponse) -> Iterator[tuple[Following, PartitionData]]:
        for topic in answer.responses:
            name = topic.topic or self._broker.partitions.topic_name(topic.topic_id)
            for data in topic.partitions:
                following = self.followed.get(TopicPartition(name or "", data.partition_index))
                if following is not None:
                    yield following, data

    def _asked_of(self, following: Following) -> Partition | None:
        """The partition that an answer tells of, unless it was asked for in another epoch."""
        return self._comparing.partition_of(following) if following.is_asked else None

    def _terms(self, version: int) -> Terms:
        broker, settings = self._broker, self._broker.settings
        return Terms(
            version,
            broker.id,
            broker.keeper.epoch,
            self._wait_max_ms,
            settings.replica_fetch_min_bytes,
            settings.replica_fetch_response_max_bytes,
        )

    @property
    def _wait_max_ms(self) -> int:
        """Not longer than one that was set aside rests."""
        wait_ms, ready_ms = self._broker.settings.replica_fetch_wait_max_ms, self._until_ready_ms()
        return wait_ms if ready_ms is None else min(wait_ms, ready_ms)

    def _take(
        self,
        following: Following,
        partition: Partition,
        data: PartitionData,
        parted: list[tuple[Following, Cut | Restart]],
        grown: list[Partition],
    ) -> None:
        """Take what the leader says of one partition."""
        if data.error_code:
            self._refused(following, ErrorCode(data.error_code))
        elif data.diverging_epoch.epoch >= 0:
            ended = EpochEnd(data.diverging_epoch.epoch, data.diverging_epoch.end_offset)
            parted.append((following, following.cut_for_divergence(partition.log, ended)))
        elif self._append(following, partition, data):
            following.succeeded()
            following.is_in_sync = partition.log.end_offset >= data.high_watermark
            if data.records:
                grown.append(partition)
                if self._quotas.follower:
                    self._quotas.count_fetched(*partition.where, len(data.records))
            self._want_of(following, partition)

    def _refused(self, following: Following, error: ErrorCode) -> None:
        following.refused(error, self._broker.steady_clock(), self._pause_max_ms)
        self._note.debug("%s: %s", following.where, error.name)
        self._set_aside(following)

    def _append(self, following: Following, partition: Partition, data: PartitionData) -> bool:
        """Whether all that was sent is in the log now."""
        broker, where = self._broker, following.where
        try:
            if data.records:
                partition.append_as_follower(data.records, broker.clock())
            partition.follow_offsets(data.high_watermark, data.log_start_offset)
        except (ProtocolError, UnexpectedOffset, DiskFull) as error:
            self._note.warning("%s: %s", where, error)
            following.failed(broker.steady_clock(), self._pause_max_ms)
            self._set_aside(following)
        except DISK_TROUBLE as error:
            broker.partitions.disk_failed(partition, error)
        else:
            return True
        return False

    async def _flush(self, grown: list[Partition]) -> None:
        """What the next question says that we have must survive what the topic says."""
        flushes = self._broker.partitions.flushes
        await asyncio.gather(*(flushes.flush(it) for it in grown if is_flush_due(it)))


def restart_for(log: Log, data: PartitionData) -> Restart | None:
    """An empty log begins where the first batch does, even if the leader's begins inside it."""
    if log.start_offset != log.end_offset or not data.records:
        return None
    first = next(cut(memoryview(data.records)), None)
    if first is None or first.head.base_offset >= log.end_offset:
        return None
    return Restart(first.head.base_offset)


def is_flush_due(partition: Partition) -> bool:
    log = partition.log
    return log.end_offset - log.recovery_point >= log.settings.flush_messages
