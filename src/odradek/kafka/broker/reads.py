"""Reading the partitions of one fetch: what memory holds at once, the rest in other threads.

The limit goes from partition to partition; the first batch of the first that has any comes whole
(KIP-74). What is wrong with one partition is said of that one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from odradek.kafka.broker.broker import Broker
from odradek.kafka.broker.fetch_entries import Entry
from odradek.kafka.broker.partition import Partition
from odradek.kafka.storage.epochs import UNKNOWN, EpochEnd
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.reading import Later, read
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.wire.errors import ErrorCode
from odradek.kafka.wire.schema import ZERO_UUID

CONSUMER = -1
FIRST_WITH_SOFT_LIMIT = 3
FIRST_FROM_FOLLOWERS = 11
FIRST_WITH_IDS = 13
TRIES = 3  # A segment may be retired under a reader; not again and again.


class Look(Enum):
    """What a reading is to find out."""

    FIRST = "all, and how far a follower is"
    AGAIN = "all, for something may have changed while the fetch waited"
    FOR_BYTES = "what was appended meanwhile, for nothing else is new"


@dataclass(slots=True, eq=False)
class Part:
    """One partition of a fetch, on its way to an answer."""

    entry: Entry
    partition: Partition | None = None
    error: ErrorCode = ErrorCode.NONE
    fetched: Fetched | Later[Fetched] | None = None
    diverging: EpochEnd | None = None
    preferred: int | None = None  # The replica to read from instead (KIP-392).
    is_settled: bool = False  # There is something to say that does not wait for data.
    upper_offset: int = -1  # Up to where there was something to see when it was looked at.

    def fail(self, error: ErrorCode) -> None:
        self.error, self.is_settled = error, True


@dataclass(slots=True, eq=False)
class Asked:
    """What a request asks of every partition."""

    broker: Broker
    version: int
    replica_id: int
    bytes_max: int
    is_committed: bool
    rack: str = ""
    is_cold: bool = False  # Whether something is still to be read by another thread.
    is_follower: bool = field(init=False)
    is_limited: bool = field(init=False)  # Whether replication of some partitions is.
    reads_anywhere: bool = field(init=False)  # Any replica will do: who asks knows how to move.

    def __post_init__(self) -> None:
        self.is_follower = self.replica_id >= 0
        self.is_limited = self.is_follower and bool(self.broker.replication_quotas.leader)
        is_consumer = self.replica_id == CONSUMER
        self.reads_anywhere = is_consumer and self.version >= FIRST_FROM_FOLLOWERS

    def upper_offset(self, partition: Partition) -> int:
        """Up to where this reader may see."""
        log = partition.log
        if self.replica_id != CONSUMER:
            return log.end_offset
        return log.last_stable_offset if self.is_committed else log.high_watermark


def begin_all(asked: Asked, entries: Iterable[Entry], look: Look) -> list[Part]:
    """Read what memory holds, partition by partition, as far as the limit goes.

    If that leaves something cold, `read_cold` must follow.
    """
    left, is_first = asked.bytes_max, asked.version >= FIRST_WITH_SOFT_LIMIT
    parts = []
    for entry in entries:
        if look is Look.FOR_BYTES and entry.watched is not None:
            part = Part(entry, entry.watched)
            read_part(asked, part, min(left, entry.bytes_max), is_first=is_first)
        else:
            part = begin(asked, entry, left, is_first=is_first, is_again=look is not Look.FIRST)
        parts.append(part)
        taken = size_of(part, left)
        if taken:
            left, is_first = max(0, left - taken), False
    return parts


def size_of(part: Part, left: int) -> int:
    """What a partition takes of the limit; of one that is still to be read, all that it may."""
    if isinstance(part.fetched, Fetched):
        return len(part.fetched.data)
    return min(left, part.entry.bytes_max) if part.fetched is not None else 0


def begin(asked: Asked, entry: Entry, left: int, *, is_first: bool, is_again: bool) -> Part:
    """Look at one partition, and read it if nothing is wrong."""
    found = replica_of(asked, entry)
    if isinstance(found, ErrorCode):
        entry.watch(None)
        return Part(entry, error=found, is_settled=True)
    if entry.watched is not found:
        entry.watch(found)
    part = Part(entry, found)
    log, offset = found.log, entry.fetch_offset
    if asked.is_follower and not (
        found.leadership and asked.replica_id in found.leadership.followers
    ):
        part.fail(stranger(entry))
    elif entry.last_fetched_epoch >= 0 and (diverging := divergence(found, entry)):
        if diverging.epoch == UNKNOWN:
            part.fail(ErrorCode.OFFSET_OUT_OF_RANGE)
        else:
            part.diverging, part.is_settled = diverging, True
    if asked.rack and asked.reads_anywhere and not part.is_settled:
        part.preferred = found.nearest_replica(asked.rack, offset)
        part.is_settled = part.preferred is not None
    if part.is_settled:
        return part
    if asked.is_follower and not is_again and log.start_offset <= offset <= log.end_offset:
        now_ms = asked.broker.steady_clock()
        found.fetched_by(asked.replica_id, offset, entry.log_start_offset, now_ms)
    read_part(asked, part, min(left, entry.bytes_max), is_first=is_first)
    return part


def is_held_back(asked: Asked, partition: Partition) -> bool:
    """Whether a follower gets nothing now, for replication is limited and it is not in sync."""
    quotas, leadership = asked.broker.replication_quotas, partition.leadership
    if leadership is None:
        return False
    is_in_sync = asked.replica_id in leadership.isr
    return quotas.is_held_by_leader(*partition.where, is_in_sync=is_in_sync)


def replica_of(asked: Asked, entry: Entry) -> Partition | ErrorCode:
    """The partition, if this reader may read it here."""
    known = entry.watched
    if (
        known is not None
        and known.leadership is not None  # It is here, then.
        and known.leader_epoch == entry.current_leader_epoch
        and known.topic_id == entry.topic_id != ZERO_UUID
    ):
        return known
    partitions = asked.broker.partitions
    find = partitions.replica if asked.reads_anywhere else partitions.leader
    if asked.version < FIRST_WITH_IDS:
        return find(entry.topic, entry.index, entry.current_leader_epoch)
    name = partitions.topic_name(entry.topic_id)
    if name is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    entry.topic = name
    found = find(name, entry.index, entry.current_leader_epoch)
    if isinstance(found, Partition) and found.topic_id not in (entry.topic_id, ZERO_UUID):
        return ErrorCode.INCONSISTENT_TOPIC_ID
    return found


def stranger(entry: Entry) -> ErrorCode:
    """The answer to a follower that is none, or not yet, in this epoch."""
    if entry.current_leader_epoch >= 0:
        return ErrorCode.UNKNOWN_LEADER_EPOCH
    return ErrorCode.NOT_LEADER_OR_FOLLOWER


def divergence(partition: Partition, entry: Entry) -> EpochEnd | None:
    """Where the reader's log and ours part; with the epoch -1 if nobody can tell."""
    log = partition.log
    if (
        entry.last_fetched_epoch == partition.leader_epoch
        and partition.leadership is not None
        and log.start_offset <= entry.fetch_offset <= log.end_offset
    ):
        return None  # Our own epoch is not over.
    ended = partition.end_of_epoch(entry.last_fetched_epoch)
    if ended.epoch == UNKNOWN or entry.fetch_offset < log.start_offset:
        return EpochEnd(UNKNOWN, UNKNOWN)
    if ended.epoch < entry.last_fetched_epoch or ended.end_offset < entry.fetch_offset:
        return ended
    return None


def read_part(asked: Asked, part: Part, bytes_max: int, *, is_first: bool) -> None:
    """Read a partition of which nothing is wrong."""
    partition = part.partition
    assert partition is not None
    log, offset = partition.log, part.entry.fetch_offset
    upper_offset = part.upper_offset = asked.upper_offset(partition)
    has_none = offset >= upper_offset or (bytes_max <= 0 and not is_first)
    has_none = has_none or (asked.is_limited and is_held_back(asked, partition))
    if has_none and log.start_offset <= offset <= log.end_offset:
        part.fetched = Fetched(b"", offset)
        return
    try:
        fetched = read(
            log,
            offset,
            max(0, bytes_max),
            upper_offset,
            is_first_whole=is_first,
            is_committed=asked.is_committed,
        )
    except DISK_TROUBLE as error:
        asked.broker.partitions.disk_failed(partition, error)
        part.fail(ErrorCode.KAFKA_STORAGE_ERROR)
        return
    if isinstance(fetched, Refusal):
        part.fail(fetched.code)
    else:
        part.fetched = fetched
        asked.is_cold = asked.is_cold or isinstance(fetched, Later)


async def read_cold(asked: Asked, parts: list[Part]) -> None:
    """Read what is not in memory, in other threads, all at once."""
    asked.is_cold = False
    in_thread = asyncio.get_running_loop().run_in_executor
    for _ in range(TRIES):
        cold = {
            in_thread(None, outcome_of, part.fetched): part
            for part in parts
            if isinstance(part.fetched, Later)
        }
        if not cold:
            return
        await asyncio.wait(cold)
        for done, part in cold.items():
            take_cold(asked, part, done.result())
    for part in parts:
        if isinstance(part.fetched, Later):
            part.fetched = None
            part.fail(ErrorCode.UNKNOWN_SERVER_ERROR)


def outcome_of(later: Later[Fetched]) -> Fetched | Exception:
    """In another thread: nobody may be left to hear what is raised."""
    try:
        return later.run()
    except DISK_TROUBLE as error:
        return error


def take_cold(asked: Asked, part: Part, outcome: Fetched | Exception) -> None:
    later, partition = part.fetched, part.partition
    assert isinstance(later, Later) and partition is not None
    part.fetched = None
    if isinstance(outcome, FileNotFoundError) or later.is_outdated:
        # Retention was here meanwhile, or the cleaner: the log as it is now says more.
        read_part(asked, part, part.entry.bytes_max, is_first=True)
    elif isinstance(outcome, Exception):
        asked.broker.partitions.disk_failed(partition, outcome)
        part.fail(ErrorCode.KAFKA_STORAGE_ERROR)
    else:
        part.fetched = outcome
        if outcome.segment is not None:
            outcome.segment.remember(outcome.next_offset, outcome.next_position)
