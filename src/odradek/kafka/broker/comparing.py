"""Having logs agree with their leaders': asking where they part, and cutting there.

A cut lowers what the checkpoints of a directory say, and those are written by others in other
threads: so it waits for its turn at the directory, and then looks whether it is still wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, TypeVar

from odradek.kafka.broker.partition import Partition
from odradek.kafka.broker.peers import Peer
from odradek.kafka.controller.versions import LIST_OFFSETS, OFFSET_FOR_LEADER_EPOCH, newest
from odradek.kafka.replication.follower import Cut, EpochEnd, Following, Restart, Step
from odradek.kafka.settings.versions import Version
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from odradek.kafka.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from odradek.runtime.disk import DiskFull
from odradek.runtime.logs import NodeLog

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker

LATEST, EARLIEST = -1, -2

TurnOf = Callable[[LogDirectory], AbstractAsyncContextManager[object]]
Wanted = tuple[Following, Cut | Restart]
Asked = TypeVar("Asked")


class Comparing:
    """Brings the logs of one fetcher into agreement."""

    def __init__(self, broker: Broker, turn_of: TurnOf, note: NodeLog) -> None:
        self._broker = broker
        self._turn_of = turn_of
        self._note = note

    def partition_of(self, following: Following) -> Partition | None:
        """The partition, as long as it is followed in this epoch."""
        partition = self._broker.partitions.get(*following.where)
        if partition is None or partition.is_leader:
            return None
        return partition if partition.leader_epoch == following.leader_epoch else None

    async def settle(self, peer: Peer, waiting: list[Following]) -> None:
        """Do what each must do before it may fetch. Raises `PeerLost`."""
        marked: list[Wanted] = [
            (it, it.cut_for_high_watermark(partition.log))
            for it, partition in self._of(waiting, Step.CUT_TO_HIGH_WATERMARK)
        ]
        await self.carry_out(marked)
        await self._ask_epochs(peer, [it for it, _ in self._of(waiting, Step.ASK_EPOCH)])
        await self._ask_offsets(peer, [it for it, _ in self._of(waiting, Step.ASK_OFFSETS)])

    def _of(
        self, waiting: Iterable[Following], step: Step
    ) -> Iterable[tuple[Following, Partition]]:
        for following in waiting:
            if following.step is step and (partition := self.partition_of(following)):
                yield following, partition

    # Asking

    async def _ask_epochs(self, peer: Peer, waiting: list[Following]) -> None:
        if not waiting:
            return
        asked = [
            (it.where, OffsetForLeaderPartition(
                partition=it.where.partition,
                current_leader_epoch=it.leader_epoch,
                leader_epoch=it.last_fetched_epoch(self._log(it)),
            ))
            for it in waiting
        ]  # fmt: skip
        topics = [
            OffsetForLeaderTopic(topic=topic, partitions=partitions)
            for topic, partitions in grouped(asked).items()
        ]
        version = newest(OFFSET_FOR_LEADER_EPOCH, self._protocol)
        request = OffsetForLeaderEpochRequest(replica_id=self._broker.id, topics=topics)
        answer = await peer.ask(request, version)
        assert isinstance(answer, OffsetForLeaderEpochResponse)
        told = {
            (topic.topic, it.partition): it for topic in answer.topics for it in topic.partitions
        }
        cuts: list[Wanted] = []
        for following in waiting:
            data, partition = told.get(following.where), self.partition_of(following)
            if data is None or partition is None:
                continue
            if data.error_code:
                self._refused(following, data.error_code)
            else:
                ended = EpochEnd(data.leader_epoch, data.end_offset)
                cuts.append((following, following.cut_for_epoch(partition.log, ended)))
        await self.carry_out(cuts)

    async def _ask_offsets(self, peer: Peer, waiting: list[Following]) -> None:
        if not waiting:
            return
        ends = await self._list(peer, waiting, LATEST)
        starts = await self._list(peer, waiting, EARLIEST)
        cuts: list[Wanted] = []
        for following in waiting:
            end, start = ends.get(following.where), starts.get(following.where)
            partition = self.partition_of(following)
            if end is None or start is None or partition is None:
                continue
            if error := end[0] or start[0]:
                self._refused(following, error)
            else:
                cuts.append((following, following.settle_offsets(partition.log, start[1], end[1])))
        await self.carry_out(cuts)

    async def _list(
        self, peer: Peer, waiting: list[Following], timestamp: int
    ) -> dict[tuple[str, int], tuple[int, int]]:
        """The error or the offset of each."""
        asked = [
            (it.where, ListOffsetsPartition(
                partition_index=it.where.partition,
                current_leader_epoch=it.leader_epoch,
                timestamp=timestamp,
            ))
            for it in waiting
        ]  # fmt: skip
        topics = [
            ListOffsetsTopic(name=topic, partitions=partitions)
            for topic, partitions in grouped(asked).items()
        ]
        request = ListOffsetsRequest(replica_id=self._broker.id, topics=topics)
        answer = await peer.ask(request, max(1, newest(LIST_OFFSETS, self._protocol)))
        assert isinstance(answer, ListOffsetsResponse)
        return {
            (topic.name, it.partition_index): (it.error_code, it.offset)
            for topic in answer.topics
            for it in topic.partitions
        }

    @property
    def _protocol(self) -> Version:
        return self._broker.settings.inter_broker_protocol_version

    def _log(self, following: Following) -> Log:
        partition = self.partition_of(following)
        assert partition is not None
        return partition.log

    def _refused(self, following: Following, error: int) -> None:
        pause_ms = self._broker.settings.replica_fetch_backoff_ms
        following.refused(ErrorCode(error), self._broker.steady_clock(), pause_ms)

    # Cutting

    async def carry_out(self, cuts: list[Wanted]) -> None:
        """Cut, each directory in its turn."""
        directories = self._broker.directories
        by_path: dict[str, list[Wanted]] = {}
        for following, cut in cuts:
            if (partition := self.partition_of(following)) is not None:
                directory = directories.directory_of(partition.log)
                by_path.setdefault(directory.path, []).append((following, cut))
        moved: list[Wanted] = []
        for directory in list(directories.online):
            if wanted := by_path.get(directory.path):
                async with self._turn_of(directory):
                    moved += self._cut(directory, wanted)
        if moved:
            await self.carry_out(moved)

    def _cut(self, directory: LogDirectory, wanted: list[Wanted]) -> list[Wanted]:
        """Cut what is still to be cut; return what has moved to another directory meanwhile."""
        ends: dict[TopicPartition, int] = {}
        restarts: list[tuple[TopicPartition, int]] = []
        moved: list[Wanted] = []
        for following, cut in wanted:
            partition = self.partition_of(following)
            if partition is None:
                continue
            if directory.logs.get(following.where) is not partition.log:
                moved.append((following, cut))
            elif isinstance(cut, Restart):
                restarts.append((following.where, cut.offset))
            elif cut.offset < partition.log.end_offset:
                ends[following.where] = cut.offset
                self._count_lost(partition, cut.offset)
        try:
            directory.truncate(ends)
            for where, offset in restarts:
                self._note.info("%s begins anew at %s", where, offset)
                directory.restart(where, offset)
        except DiskFull as error:
            self._note.warning("%s", error)
            for following, _ in wanted:
                self._refused(following, ErrorCode.KAFKA_STORAGE_ERROR)
        except DISK_TROUBLE as error:
            self._broker.partitions.fail_directory(directory, error)
        return moved

    def _count_lost(self, partition: Partition, offset: int) -> None:
        log = partition.log
        self._note.info("%s: cuts %s, from %s on", partition.where, log.end_offset - offset, offset)
        if offset < log.high_watermark:
            lost = log.high_watermark - offset
            self._note.warning("%s: %s committed records are lost", partition.where, lost)
            self._broker.meters.records_lost += lost


def grouped(asked: Iterable[tuple[TopicPartition, Asked]]) -> dict[str, list[Asked]]:
    topics: dict[str, list[Asked]] = {}
    for where, it in asked:
        topics.setdefault(where.topic, []).append(it)
    return topics
