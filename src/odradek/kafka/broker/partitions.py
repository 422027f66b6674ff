"""The replicas that live on this broker, by topic and number.

A log may be here before its partition is: after a start, until the controller says who leads. A
partition whose directory failed is offline: it is told apart from one that never was here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from random import Random
from typing import NamedTuple

from odradek.kafka.broker.beginnings import Beginnings, Unbegun
from odradek.kafka.broker.flushing import Flushes
from odradek.kafka.broker.meters import Meters
from odradek.kafka.broker.partition import Partition, Surroundings
from odradek.kafka.controller.znodes import id_bytes, id_text
from odradek.kafka.storage.appending import Appended, Placed
from odradek.kafka.storage.checkpoints import read_topic_id, write_topic_id
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import Purpose, TopicPartition
from odradek.kafka.storage.producers import Verification
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.messages.leader_and_isr import LeaderAndIsrPartitionState
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.disk import Buffer, DiskFull
from odradek.runtime.logs import NodeLog
from odradek.runtime.tasks import Tasks

GONE = Refusal(ErrorCode.KAFKA_STORAGE_ERROR)  # Its directory went offline with another's write.
TOGETHER_MAX = 64  # So few files that all of them stay open.


class ToAppend(NamedTuple):
    """What a producer wants to be appended to a partition."""

    partition: Partition
    records: Buffer
    verification: Verification | None


def runs(wanted: Iterable[ToAppend]) -> Iterator[list[ToAppend]]:
    """Cut into runs in which no partition comes twice."""
    run: dict[Partition, ToAppend] = {}
    for each in wanted:
        if each.partition in run or len(run) == TOGETHER_MAX:
            yield list(run.values())
            run = {}
        run[each.partition] = each
    if run:
        yield list(run.values())


class Partitions:
    """All partitions of one broker.

    What the node wires: `doomed` is given the directory of a deleted one, with the delay after
    which it may go, `forget` has the checkpoints of a log directory say nothing of what is not in
    it any more, `directory_failed` hears of a log directory that went offline, and all of
    `leading_changed` are given each partition for which this broker begins, goes on or ceases to
    lead.
    """

    def __init__(
        self,
        directories: LogDirectories,
        surroundings: Surroundings,
        meters: Meters,
        tasks: Tasks,
        note: NodeLog,
        random: Random,
    ) -> None:
        self.directories = directories
        self.offline: set[TopicPartition] = set()
        self.beginnings = Beginnings(directories, tasks, note)
        self.beginnings.failed = self.fail_directory
        self.flushes = Flushes(tasks, surroundings.clock, self.disk_failed)
        self.doomed: Callable[[str, int], None] = lambda path, delay_ms: None
        self.forget: Callable[[LogDirectory], Awaitable[None]] | None = None
        self.directory_failed: Callable[[LogDirectory], None] = lambda directory: None
        self.leading_changed: list[Callable[[Partition], None]] = []
        self._surroundings = surroundings
        self._meters = meters
        self._note = note
        self._random = random
        self._unsynced: dict[str, LogDirectory] = {}  # Where something was deleted.
        self._here: dict[tuple[str, int], Partition] = {}
        self._topics: dict[bytes, str] = {}  # The names of those that are here, by id.
        self._counts: dict[str, int] = {}  # How many partitions of a topic are here.

    def get(self, topic: str, index: int) -> Partition | None:
        return self._here.get((topic, index))

    def all(self) -> Iterable[Partition]:
        return self._here.values()

    def __len__(self) -> int:
        return len(self._here)

    def topic_name(self, topic_id: bytes) -> str | None:
        """The topic of an id, here or elsewhere."""
        return self._topics.get(topic_id) or self._surroundings.metadata.topic_name(topic_id)

    def leader(
        self, topic: str, index: int, current_leader_epoch: int = -1
    ) -> Partition | ErrorCode:
        """The partition, if this broker leads it, and in the epoch that the request believes in."""
        partition = self._here.get((topic, index))
        if partition is None or current_leader_epoch >= 0:
            found = self.replica(topic, index, current_leader_epoch)
            if isinstance(found, ErrorCode):
                return found
            partition = found
        return ErrorCode.NOT_LEADER_OR_FOLLOWER if partition.leadership is None else partition

    def replica(
        self, topic: str, index: int, current_leader_epoch: int = -1
    ) -> Partition | ErrorCode:
        """The partition, whoever leads it, in the epoch that the request believes in."""
        partition = self._here.get((topic, index))
        if partition is None:
            return self.absence(topic, index)
        if current_leader_epoch >= 0 and (error := partition.epoch_error(current_leader_epoch)):
            return error
        return partition

    def absence(self, topic: str, index: int) -> ErrorCode:
        """Why a partition is not here."""
        if (topic, index) in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if self._surroundings.metadata.partition(topic, index) is not None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    # What the controller says

    def lead(
        self, state: LeaderAndIsrPartitionState, topic: str, topic_id: bytes = ZERO_UUID
    ) -> ErrorCode:
        """Lead a partition; its log is begun if there is none."""
        return self._take(state, topic, topic_id, Partition.lead)

    def follow(
        self, state: LeaderAndIsrPartitionState, topic: str, topic_id: bytes = ZERO_UUID
    ) -> ErrorCode:
        """Hold a replica of what another leads."""
        return self._take(state, topic, topic_id, Partition.follow)

    def _take(
        self,
        state: LeaderAndIsrPartitionState,
        topic: str,
        topic_id: bytes,
        take: Callable[[Partition, LeaderAndIsrPartitionState], None],
    ) -> ErrorCode:
        found = self._open(state, topic, topic_id)
        if isinstance(found, ErrorCode):
            return found
        if not found.is_old_news(state):
            take(found, state)
            if found.is_leader:
                self._flush_if_due(found)
            self._tell_leading(found)
        return ErrorCode.NONE

    def stop(self, where: TopicPartition, *, delete: bool) -> ErrorCode:
        """Hold a replica no longer; with `delete` its log goes too, after a while.

        That it goes is safe once `sync_deletions` has said so.
        """
        partition = self._here.pop(where, None)
        if partition is not None:
            self._let_go(partition)
        if where in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        return self._delete(where) if delete else ErrorCode.NONE

    def _delete(self, where: TopicPartition) -> ErrorCode:
        """Have neither the log nor one that was to take its place."""
        self.beginnings.forget([where])
        future, log = self.directories.find_future(where), self.directories.find(where)
        error = ErrorCode.NONE if future is None else self.drop(*future, Purpose.FUTURE)
        if error or log is None:
            return error
        return self.drop(self.directories.directory_of(log), log, Purpose.LIVE)

    def drop(self, directory: LogDirectory, log: Log, kind: Purpose) -> ErrorCode:
        """Take a log out of its directory; its files go after a while."""
        unique = f"{self._random.getrandbits(128):032x}"
        try:
            path = directory.retire(log.where, Purpose.DELETE, unique, kind)
        except DiskFull as error:
            self._note.warning("%s stays: %s", log.where, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        except DISK_TROUBLE as error:
            self.fail_directory(directory, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        self._unsynced[directory.path] = directory
        self.doomed(path, log.settings.file_delete_delay_ms)
        return ErrorCode.NONE

    async def sync_deletions(self) -> bool:
        """Make all deletions so far safe, in another thread; False if one may come back."""
        unsynced, self._unsynced = self._unsynced, {}
        in_thread = asyncio.get_running_loop().run_in_executor
        is_safe = True
        for directory in unsynced.values():
            try:
                await in_thread(None, directory.sync_names)
            except DISK_TROUBLE as error:
                is_safe = False
                self.fail_directory(directory, error)
                continue
            if self.forget is not None:
                await self.forget(directory)
        return is_safe

    def _open(
        self, state: LeaderAndIsrPartitionState, topic: str, topic_id: bytes
    ) -> Partition | ErrorCode:
        where = TopicPartition(topic, state.partition_index)
        if where in self.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        partition = self._here.get(where)
        if partition is not None:
            if state.leader_epoch < partition.leader_epoch:
                return ErrorCode.STALE_CONTROLLER_EPOCH
            return self._agree_on_id(partition, topic_id) or partition
        known_id, log = ZERO_UUID, self.directories.find(where)
        if log is None:
            log = self.beginnings.begin(Unbegun(where, topic_id, state.is_new))
            if log is None:
                return ErrorCode.KAFKA_STORAGE_ERROR
            known_id = topic_id
        partition = Partition(log, known_id, self._meters.topic(topic), self._surroundings)
        if error := self._agree_on_id(partition, topic_id):
            return error
        self._here[where] = partition
        self._counts[topic] = self._counts.get(topic, 0) + 1
        if topic_id != ZERO_UUID:
            self._topics[topic_id] = topic
        return partition

    def _agree_on_id(self, partition: Partition, topic_id: bytes) -> ErrorCode:
        """A log is of one topic; another topic of the same name has another id."""
        if topic_id == ZERO_UUID or partition.topic_id == topic_id:
            return ErrorCode.NONE
        try:
            known = self._known_id(partition)
            if known == ZERO_UUID:
                log = partition.log
                write_topic_id(log.files.disk, log.directory, id_text(topic_id))
        except DISK_TROUBLE as error:
            self.disk_failed(partition, error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        if known not in (ZERO_UUID, topic_id):
            return ErrorCode.INCONSISTENT_TOPIC_ID
        partition.topic_id = topic_id
        self._topics[topic_id] = partition.where.topic
        return ErrorCode.NONE

    def _known_id(self, partition: Partition) -> bytes:
        if partition.topic_id != ZERO_UUID:
            return partition.topic_id
        log = partition.log
        text = read_topic_id(log.files.disk, log.directory)
        return ZERO_UUID if text is None else id_bytes(text)

    def _let_go(self, partition: Partition) -> None:
        """It is no longer among those that are here."""
        self._forget_topic(partition)
        partition.leadership = None
        partition.tell_changed()
        self._tell_leading(partition)

    def _tell_leading(self, partition: Partition) -> None:
        for told in self.leading_changed:
            told(partition)

    def _forget_topic(self, partition: Partition) -> None:
        topic = partition.where.topic
        self._counts[topic] -= 1
        if not self._counts[topic]:
            del self._counts[topic]
            self._topics.pop(partition.topic_id, None)
            self._meters.forget(topic)

    # Appending

    def append(
        self,
        partition: Partition,
        records: Buffer,
        now_ms: int,
        *,
        is_for_all: bool,
        origin: Origin = Origin.CLIENT,
        verification: Verification | None = None,
    ) -> Appended | Refusal:
        """Append as leader; `is_for_all` (acks=-1) needs enough replicas in sync."""
        if is_for_all and partition.is_under_min_isr:
            return Refusal(ErrorCode.NOT_ENOUGH_REPLICAS)
        try:
            appended = partition.append(records, now_ms, origin, verification)
            if partition.log.settings.is_flushed_by_count:
                self._flush_if_due(partition)
            return appended
        except DISK_TROUBLE as error:
            return self._failed(partition, error)

    def append_together(
        self, wanted: Iterable[ToAppend], now_ms: int, *, is_for_all: bool
    ) -> list[Appended | Refusal]:
        """As `append`, to several partitions: what is to be written is written side by side."""
        results: list[Appended | Refusal] = []
        for run in runs(wanted):
            results += self._append_run(run, now_ms, is_for_all=is_for_all)
        return results

    def _append_run(
        self, wanted: list[ToAppend], now_ms: int, *, is_for_all: bool
    ) -> Iterator[Appended | Refusal]:
        placed = [self._place(each, now_ms, is_for_all=is_for_all) for each in wanted]
        refused = self._write_all(wanted, placed)
        for each, its, refusal in zip(wanted, placed, refused, strict=True):
            yield self._finish(each, its, refusal) if isinstance(its, Placed) else its

    def _place(
        self, wanted: ToAppend, now_ms: int, *, is_for_all: bool
    ) -> Placed | Appended | Refusal:
        partition, records, verification = wanted
        if partition.leadership is None:
            return GONE
        if is_for_all and partition.is_under_min_isr:
            return Refusal(ErrorCode.NOT_ENOUGH_REPLICAS)
        try:
            return partition.place(records, now_ms, verification)
        except DISK_TROUBLE as error:
            return self._failed(partition, error)

    def _write_all(
        self, wanted: Sequence[ToAppend], placed: Sequence[Placed | Appended | Refusal]
    ) -> list[Refusal | None]:
        """Write what has a place; what is refused because that went wrong."""
        refused: list[Refusal | None] = [None] * len(placed)
        numbers, writes, size = [], [], 0
        for number, its in enumerate(placed):
            if isinstance(its, Placed) and wanted[number].partition.is_leader:
                numbers.append(number)
                writes.append(its.write)
                size += len(its.batch.data)
        outcomes = self.directories.files.disk.write_all(writes, size)
        for number, error in zip(numbers, outcomes, strict=True):
            if error is not None:
                refused[number] = self._failed(wanted[number].partition, error)
        return refused

    def _finish(
        self, wanted: ToAppend, placed: Placed, refusal: Refusal | None
    ) -> Appended | Refusal:
        partition = wanted.partition
        if refusal is not None:
            return refusal
        if partition.leadership is None:
            return GONE
        try:
            appended = partition.take(placed, len(wanted.records))
            if partition.log.settings.is_flushed_by_count:
                self._flush_if_due(partition)
            return appended
        except DISK_TROUBLE as error:
            return self._failed(partition, error)

    def _failed(self, partition: Partition, error: Exception) -> Refusal:
        """What its disk did not do, a partition refuses; unless room alone lacked, it is over."""
        if isinstance(error, DiskFull):
            self._note.warning("%s: %s", partition.where, error)
        else:
            self.disk_failed(partition, error)
        return Refusal(ErrorCode.KAFKA_STORAGE_ERROR)

    def _flush_if_due(self, partition: Partition) -> None:
        """What is promised to be flushed is not committed before it is."""
        if partition.log.promised_offset < partition.log.end_offset:
            self.flushes.begin(partition)

    # Disks that fail

    def disk_failed(self, partition: Partition, error: Exception) -> None:
        """The disk under a partition did not do what it was asked to."""
        log = partition.log
        for directory in list(self.directories.online):
            if directory.logs.get(log.where) is log:
                self.fail_directory(directory, error)

    def fail_directory(self, directory: LogDirectory, error: Exception) -> None:
        """Take a directory offline, with all partitions in it, and with nothing else."""
        if directory not in self.directories.online:
            return
        self._note.error("%s is offline: %s", directory.path, error)
        for where in self.directories.fail(directory, error):
            self.offline.add(where)
            partition = self._here.pop(where, None)
            if partition is not None:
                self._let_go(partition)
        self.directory_failed(directory)
