"""Replicas that move from one log directory of this broker to another (KIP-113).

A move is a second log, under a name of its own, in the directory that it goes to; so it is there
after a restart, and goes on once the controller has told who leads. As many replicas are copied at
once as `num.replica.alter.log.dirs.threads` says, one after the other, and all of them together no
faster than `replica.alter.log.dirs.io.max.bytes.per.second`. While one moves it is not cleaned.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from odradek.kafka.broker.log_dir_copy import Copying, Move
from odradek.kafka.broker.partition import Partition
from odradek.kafka.controller.znodes import id_text
from odradek.kafka.storage.checkpoints import read_topic_id
from odradek.kafka.storage.directory import CHECKPOINTS, LogDirectory
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import NAME_MAX, Purpose, TopicPartition
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.schema import ZERO_UUID
from odradek.runtime.disk import DiskFull
from odradek.runtime.errors import ProtocolError

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker
    from odradek.kafka.broker.upkeep import Upkeep

REST_S = 1.0  # After trouble.


class LogDirMoves:
    """All moves of one broker."""

    def __init__(self, broker: Broker, upkeep: Upkeep) -> None:
        self._broker = broker
        self._upkeep = upkeep
        self._note = broker.note
        self._directories = broker.directories
        self._copying = Copying(broker, upkeep)
        self._moves: dict[TopicPartition, Move] = {}
        self._busy: set[TopicPartition] = set()  # Those that are copied just now.
        self._workers_count = 0

    def __len__(self) -> int:
        return len(self._moves)

    def start(self) -> None:
        """Go on with what was under way as soon as it is known who leads."""
        self._broker.partitions.leading_changed.append(self.changed)

    # What an administrator asks for

    async def alter(self, where: TopicPartition, path: str) -> ErrorCode:
        """Have a replica move to a directory; if it is there already, no longer elsewhere."""
        partitions, directories = self._broker.partitions, self._directories
        if len(f"{where}.{'0' * 32}-{Purpose.FUTURE.value}") > NAME_MAX:
            return ErrorCode.INVALID_TOPIC_EXCEPTION  # Its name would have to be cut.
        target = next((it for it in directories.online if it.path == path), None)
        if target is None:
            is_known = path in directories.offline
            return ErrorCode.KAFKA_STORAGE_ERROR if is_known else ErrorCode.LOG_DIR_NOT_FOUND
        if where in partitions.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        partition = partitions.get(*where)
        if partition is not None and (error := await self._give_up_others(where, target)):
            return error
        if where not in target.logs and where not in target.futures:
            partitions.beginnings.preferred[where] = path
        if partition is None:
            absence = partitions.absence(*where)
            is_elsewhere = absence is ErrorCode.NOT_LEADER_OR_FOLLOWER
            return ErrorCode.REPLICA_NOT_AVAILABLE if is_elsewhere else absence
        if future := target.futures.get(where):
            self._resume(partition, target, future)
            return ErrorCode.NONE
        return ErrorCode.NONE if where in target.logs else await self._begin(partition, target)

    async def _give_up_others(self, where: TopicPartition, target: LogDirectory) -> ErrorCode:
        found = self._directories.find_future(where)
        if found is None or found[0] is target:
            return ErrorCode.NONE
        return await self._give_up(*found)

    async def _give_up(self, directory: LogDirectory, future: Log) -> ErrorCode:
        self._note.info("%s does not move to %s any more", future.where, directory.path)
        self._moves.pop(future.where, None)
        if error := self._broker.partitions.drop(directory, future, Purpose.FUTURE):
            return error
        is_safe = await self._broker.partitions.sync_deletions()
        return ErrorCode.NONE if is_safe else ErrorCode.KAFKA_STORAGE_ERROR

    async def _begin(self, partition: Partition, target: LogDirectory) -> ErrorCode:
        where = partition.where
        if self._directories.offline:
            return ErrorCode.KAFKA_STORAGE_ERROR  # There may be one on its way there already.
        async with self._upkeep.turn_of(target):
            # What is written down of an earlier log of this name must not be taken for this one's.
            await self._upkeep.write_down(target, *CHECKPOINTS)
            if target not in self._directories.online:
                return ErrorCode.KAFKA_STORAGE_ERROR
            if self._broker.partitions.get(*where) is not partition:
                return ErrorCode.REPLICA_NOT_AVAILABLE
            if where in target.logs or self._directories.find_future(where) is not None:
                return ErrorCode.NONE  # Somebody else has asked for the same, or for another.
            future = self._create(partition, target)
        if future is None:
            return ErrorCode.KAFKA_STORAGE_ERROR
        await self._broker.cleaner.halt(where)
        self._add(Move(where, target, future))
        return ErrorCode.NONE

    def _create(self, partition: Partition, target: LogDirectory) -> Log | None:
        broker, where = self._broker, partition.where
        topic_id = None if partition.topic_id == ZERO_UUID else id_text(partition.topic_id)
        unique = f"{broker.random.getrandbits(128):032x}"
        try:
            future = target.create(
                where,
                partition.log.settings,
                topic_id,
                broker.random.random,
                Purpose.FUTURE,
                unique,
            )
        except DiskFull as error:
            self._note.warning("%s does not move: %s", where, error)
        except DISK_TROUBLE as error:
            broker.partitions.fail_directory(target, error)
        else:
            broker.partitions.beginnings.preferred.pop(where, None)
            self._note.info("%s moves to %s", where, target.path)
            return future
        return None

    # What becomes of partitions

    def changed(self, partition: Partition) -> None:
        """A partition has another leader or epoch, or is gone."""
        where = partition.where
        if self._broker.partitions.get(*where) is not partition:
            self._moves.pop(where, None)
        elif found := self._directories.find_future(where):
            self._resume(partition, *found)

    def _resume(self, partition: Partition, target: LogDirectory, future: Log) -> None:
        """Go on with a move, unless it is under way."""
        if partition.where in self._moves:
            return
        try:
            is_own = self._is_of(partition, future)
        except DISK_TROUBLE as error:
            self._broker.partitions.fail_directory(target, error)
            return
        if is_own and partition.where not in target.logs:
            self._note.info("%s goes on moving to %s", partition.where, target.path)
            self._add(Move(partition.where, target, future))
        else:
            self._broker.partitions.drop(target, future, Purpose.FUTURE)

    def _is_of(self, partition: Partition, future: Log) -> bool:
        """Whether it was made for this topic, and not for another of the same name."""
        known = read_topic_id(future.files.disk, future.directory)
        is_unknown = known is None or partition.topic_id == ZERO_UUID
        return is_unknown or known == id_text(partition.topic_id)

    # Copying

    def _add(self, move: Move) -> None:
        self._moves[move.where] = move
        if self._workers_count < max(1, self._broker.settings.num_replica_alter_log_dirs_threads):
            self._workers_count += 1
            self._broker.tasks.start(f"moves ({move.where})", self._work(), may_end=True)

    async def _work(self) -> None:
        """Copy one after the other, as long as there are any."""
        while waiting := [it for it in self._moves if it not in self._busy]:
            where = min(waiting)
            self._busy.add(where)
            await self._drive(self._moves[where])
            self._busy.discard(where)
        self._workers_count -= 1

    async def _drive(self, move: Move) -> None:
        """Take a move to its end, whatever that is."""
        partitions, where = self._broker.partitions, move.where
        while self._moves.get(where) is move:
            partition = partitions.get(*where)
            if partition is None or not self._copying.is_wanted(move, partition):
                break
            try:
                if await self._copying.step(move, partition):
                    break
            except DiskFull as error:
                self._note.warning("%s does not move just now: %s", where, error)
                await asyncio.sleep(REST_S)
            except ProtocolError as error:
                self._note.error("%s cannot be moved: %s", where, error)
                break
            except DISK_TROUBLE as error:
                partitions.fail_directory(move.target, error)
        if self._moves.get(where) is move:
            del self._moves[where]
