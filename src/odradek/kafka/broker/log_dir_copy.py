"""One replica on its way from one log directory to another.

A log beside it is filled from it, as a follower's is from its leader; it agrees with it again
whenever that was cut. When it has all of it, it is made safe and takes its place: on the loop, in
one go, so that nothing is appended to either meanwhile. Its plain name is on disk before the old
replica loses its own, so whenever the power goes, one of them is whole, and the next start finds
out which (`storage/directories.py`).
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from odradek.kafka.broker.partition import Partition
from odradek.kafka.replication.agreement import agreed_end
from odradek.kafka.storage.appending import append_as_follower
from odradek.kafka.storage.checkpoints import CLEANED_OFFSETS
from odradek.kafka.storage.directory import CHECKPOINTS, LogDirectory
from odradek.kafka.storage.entries import cut
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.names import Purpose, TopicPartition
from odradek.kafka.storage.reading import Later, read
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.retention import raise_start_offset
from odradek.runtime.disk import DiskFull

if TYPE_CHECKING:
    from odradek.kafka.broker.broker import Broker
    from odradek.kafka.broker.upkeep import Upkeep

PAUSE_MAX_S = 0.25  # A limit may be lifted meanwhile.
# So much may be left to be synced while the loop waits; there are only so many tries for less.
SYNCED_AT_ONCE_BYTES = 1 << 20
TRIES = 8


@dataclass(slots=True, eq=False)
class Move:
    """What is known of one move."""

    where: TopicPartition
    target: LogDirectory
    future: Log
    compared_with: tuple[Log, int] | None = None  # The replica, and how often it had been cut.
    unsynced_bytes: int = 0
    safe_start: int | None = None  # The start offset that is written down.
    tries: int = 0


class Copying:
    """Takes moves a step further; whoever calls it does so until there is nothing left to do."""

    def __init__(self, broker: Broker, upkeep: Upkeep) -> None:
        self._broker = broker
        self._upkeep = upkeep
        self._note = broker.note

    async def step(self, move: Move, partition: Partition) -> bool:
        """Do a little; True once the move is done. Disks may fail, and batches be corrupt."""
        quotas, log = self._broker.replication_quotas, partition.log
        if pause_ms := quotas.log_dirs.pause_ms(quotas.now_ms()):
            await asyncio.sleep(min(pause_ms / 1000, PAUSE_MAX_S))
        elif self._is_cut(move, partition):
            await self._compare(move, partition)
        elif move.future.end_offset < log.end_offset:
            await self._copy(move, partition)
            if move.future.end_offset < log.end_offset:
                # Not once it has caught up: under load, more would have come by its next turn.
                await asyncio.sleep(0)
        elif self._is_ready(move, log):
            return await self._arrive(move, partition)
        else:
            await self._make_safe(move)
        return False

    def is_wanted(self, move: Move, partition: Partition) -> bool:
        """Whether all is as it was: to be asked after each wait."""
        is_here = self._broker.partitions.get(*move.where) is partition
        return is_here and move.target.futures.get(move.where) is move.future

    def _is_cut(self, move: Move, partition: Partition) -> bool:
        """Whether the replica was cut since the two were compared."""
        return move.compared_with != (partition.log, partition.log.cuts_count)

    # Copying

    async def _compare(self, move: Move, partition: Partition) -> None:
        """Have the copy end where the two part: the replica was cut, or both come from disk."""
        async with self._upkeep.turn_of(move.target):
            if not self.is_wanted(move, partition):
                return
            log, future = partition.log, move.future
            offset = min(agreed_end(future, log), log.end_offset)
            if offset < future.end_offset:
                self._note.info("%s: the copy goes back to %s", move.where, offset)
                move.target.truncate_future(move.where, offset)
            move.compared_with = log, log.cuts_count

    async def _copy(self, move: Move, partition: Partition) -> None:
        log = partition.log
        try:
            fetched = await self._read(log, move.future.end_offset)
        except DISK_TROUBLE as error:
            self._broker.partitions.disk_failed(partition, error)
            return
        if fetched is None or not self.is_wanted(move, partition):
            return
        if isinstance(fetched, Refusal):
            await self._restart(move, partition, log.start_offset)
        else:
            await self._append(move, partition, fetched)

    async def _read(self, log: Log, offset: int) -> Fetched | Refusal | None:
        """Some batches; None if the log was changed meanwhile, and must be asked again."""
        fetched = read(log, offset, self._broker.settings.replica_fetch_max_bytes, log.end_offset)
        if not isinstance(fetched, Later):
            return fetched
        try:
            found = await asyncio.get_running_loop().run_in_executor(None, fetched.run)
        except FileNotFoundError:
            return None
        return None if fetched.is_outdated else found

    async def _append(self, move: Move, partition: Partition, fetched: Fetched) -> None:
        future, data = move.future, fetched.data
        first = next(cut(memoryview(data)), None)
        if first is not None and first.head.base_offset < future.end_offset:
            # An empty log begins where the first batch does, even if the other's begins inside it.
            await self._restart(move, partition, first.head.base_offset)
        if not self.is_wanted(move, partition) or self._is_cut(move, partition):
            return
        append_as_follower(future, data, self._broker.clock())
        move.unsynced_bytes += len(data)
        self._follow_offsets(move, partition.log)
        quotas = self._broker.replication_quotas
        quotas.log_dirs.record(len(data), quotas.now_ms())

    def _follow_offsets(self, move: Move, log: Log) -> None:
        move.future.raise_high_watermark(log.high_watermark)
        if log.start_offset > move.future.start_offset:
            raise_start_offset(move.future, min(log.start_offset, move.future.high_watermark))

    async def _restart(self, move: Move, partition: Partition, offset: int) -> None:
        async with self._upkeep.turn_of(move.target):
            if self.is_wanted(move, partition):
                move.target.restart_future(move.where, offset)

    # Taking its place

    def _is_ready(self, move: Move, log: Log) -> bool:
        self._follow_offsets(move, log)
        is_little = move.unsynced_bytes <= SYNCED_AT_ONCE_BYTES or move.tries > TRIES
        return is_little and move.safe_start == move.future.start_offset >= log.start_offset

    async def _make_safe(self, move: Move) -> None:
        """Sync what there is, and write down what the next start must know of it."""
        future, in_thread = move.future, asyncio.get_running_loop().run_in_executor
        future.sleep()
        future.take_snapshot()
        flush = future.begin_flush(is_final=True)
        move.unsynced_bytes, move.tries = 0, move.tries + 1
        await in_thread(None, flush.run)
        future.end_flush(flush, self._broker.clock())
        async with self._upkeep.turn_of(move.target):
            start_offset = future.start_offset
            await self._upkeep.write_down(move.target, *CHECKPOINTS)
            move.safe_start = start_offset

    async def _arrive(self, move: Move, partition: Partition) -> bool:
        """Take the replica's place, if nothing has happened while we waited for our turns."""
        source = self._broker.directories.directory_of(partition.log)
        async with AsyncExitStack() as turns:
            for directory in sorted((source, move.target), key=lambda it: it.path):
                await turns.enter_async_context(self._upkeep.turn_of(directory))
            log = partition.log
            if not self.is_wanted(move, partition) or self._is_cut(move, partition):
                return False
            if move.future.end_offset != log.end_offset or not self._is_ready(move, log):
                return False
            self._replace(move, partition, source)
            # The old place must say nothing of what comes there next under the same name.
            await self._upkeep.write_down(source, *CHECKPOINTS, CLEANED_OFFSETS)
            await self._upkeep.write_down(move.target, CLEANED_OFFSETS)
        return True

    def _replace(self, move: Move, partition: Partition, source: LogDirectory) -> None:
        """On the loop, without a pause. `_drop` fails for itself: by then the move is done."""
        where, target, old = move.where, move.target, partition.log
        new = target.promote(where, self._broker.random.random, self._broker.clock())
        new.take_over_from(old)
        if (clean_end := source.cleaned.get(where)) is not None:
            target.cleaned[where] = clean_end
        partition.log = new
        self._drop(source, old)
        self._note.info("%s is in %s now", where, target.path)
        partition.advance()
        self._broker.cleaner.settings_changed([new])

    def _drop(self, source: LogDirectory, old: Log) -> None:
        partitions = self._broker.partitions
        if partitions.drop(source, old, Purpose.LIVE):
            return  # If it is still there at the next start, that one removes it.
        try:
            source.sync_names()
        except DiskFull as error:
            self._note.warning("%s: %s", source.path, error)
        except DISK_TROUBLE as error:
            partitions.fail_directory(source, error)
