"""Appending to a log, as its leader or as a follower.

decide (validate, then the producer's state) → one write → apply. A refusal has changed nothing,
nor has a write that failed for lack of room. Who appends to several logs may `place` first, have
all written at once, and then `take` what was written.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import NamedTuple

from odradek.kafka.storage.aborted import append_aborted
from odradek.kafka.storage.entries import check_entry
from odradek.kafka.storage.errors import UnexpectedOffset
from odradek.kafka.storage.heads import Head
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TRANSACTION_INDEX
from odradek.kafka.storage.producers import KeptBatch, Verification
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.replay import apply_to
from odradek.kafka.storage.tail import Tail
from odradek.kafka.storage.validate import Origin, validate
from odradek.kafka.wire.batch import Batch, cut_entries
from odradek.kafka.wire.batch_errors import CorruptBatch
from odradek.kafka.wire.control import read_marker
from odradek.runtime.disk import Buffer, DiskBroken, DiskFull

NO_TIME = -1
MAX_TIMESTAMP = attrgetter("max_timestamp")


class Appended(NamedTuple):
    """Where a batch is, now or since it first came."""

    first_offset: int
    last_offset: int
    append_time_ms: int  # -1: the records have their producer's time.
    start_offset: int
    is_duplicate: bool = False


def verification_of(log: Log, records: Buffer, now_ms: int) -> Verification | None:
    """What must be asked of the transaction's coordinator before this is appended; None: nothing.

    The bytes are not checked yet: what is no batch has nothing to ask, and `append` says why.
    """
    if not log.settings.is_transaction_verified:
        return None
    try:
        batch = Batch(memoryview(records))
    except CorruptBatch:
        return None
    if batch.is_control or not batch.is_transactional or batch.producer_id < 0:
        return None
    named = batch.producer_id, batch.producer_epoch, batch.base_sequence
    return log.producers.verification(*named, now_ms)


class Placed(NamedTuple):
    """A batch that has its place at the end of a log, and is to be written there."""

    log: Log
    tail: Tail
    batch: Batch
    buffers: tuple[bytes, memoryview]
    write: Callable[[], None]  # By any thread, while nothing else is done with this log.
    now_ms: int


def append(
    log: Log,
    records: Buffer,
    leader_epoch: int,
    now_ms: int,
    origin: Origin = Origin.CLIENT,
    verification: Verification | None = None,
) -> Appended | Refusal:
    """Append as leader: one batch, or a message set of an old format. The buffer is not changed.

    What begins a transaction needs a verification to which the coordinator has said yes.
    """
    placed = place(log, records, leader_epoch, now_ms, origin, verification)
    if not isinstance(placed, Placed):
        return placed
    placed.write()
    return take(placed)


def place(
    log: Log,
    records: Buffer,
    leader_epoch: int,
    now_ms: int,
    origin: Origin = Origin.CLIENT,
    verification: Verification | None = None,
) -> Placed | Appended | Refusal:
    """Decide where to append, if that is to be; until it is done nothing else may be."""
    accepted = validate(memoryview(records), log.settings, now_ms, origin)
    if isinstance(accepted, Refusal):
        return accepted
    if accepted.batch.producer_id >= 0:
        known = _decide(log, accepted.batch, origin, verification)
        if isinstance(known, Refusal):
            return known
        if known is not None:
            return _answer_again(log, known)
    batch, first_offset = accepted.batch, log.end_offset
    buffers = accepted.stamped(first_offset, leader_epoch)
    size, timestamp = len(batch.data), batch.max_timestamp
    tail = log.tail_for(size, first_offset, batch.last_offset, timestamp, now_ms)
    if leader_epoch != log.epochs.latest:
        log.epochs.assign(leader_epoch, first_offset)
        log.names_count += 1
    return Placed(log, tail, batch, buffers, tail.writing(buffers), now_ms)


def take(placed: Placed) -> Appended:
    """It is written: let the log know."""
    log, tail, batch, buffers, _, now_ms = placed
    assert batch.base_offset == log.end_offset, "something else was appended meanwhile"
    first_offset, last_offset, settings = log.end_offset, batch.last_offset, log.settings
    size, timestamp = len(batch.data), batch.max_timestamp
    tail.written(size, last_offset, timestamp, last_offset, settings.index_interval_bytes)
    tail.latest.appended(first_offset, size, buffers)
    log.end_offset = last_offset + 1
    if batch.producer_id >= 0:
        _apply(log, batch)
    append_time_ms = now_ms if settings.is_append_time else NO_TIME
    return Appended(first_offset, last_offset, append_time_ms, log.start_offset)


def append_as_follower(log: Log, records: Buffer, now_ms: int) -> int:
    """Append what the leader sent, as it is; return the new end. A partial batch is dropped."""
    data = memoryview(records)
    entries, size = _checked(log, data)
    if not entries:
        return log.end_offset
    first, last = entries[0], entries[-1]
    youngest = first if first is last else max(entries, key=MAX_TIMESTAMP)
    first_offset, last_offset = first.base_offset, last.last_offset
    timestamp = youngest.max_timestamp
    tail = log.tail_for(size, first_offset, last_offset, timestamp, now_ms)
    epoch = log.epochs.latest
    for entry in entries:
        if entry.leader_epoch > epoch:
            epoch = entry.leader_epoch
            log.epochs.assign(epoch, entry.base_offset)
    interval = log.settings.index_interval_bytes
    buffers = (data[:size],)
    tail.append(buffers, last_offset, timestamp, youngest.last_offset, interval)
    tail.latest.appended(first_offset, size, buffers)
    log.end_offset = last_offset + 1
    for entry in entries:
        if isinstance(entry, Batch) and entry.producer_id >= 0:
            _apply(log, entry)
    return log.end_offset


def _decide(
    log: Log, batch: Batch, origin: Origin, verification: Verification | None
) -> KeptBatch | Refusal | None:
    if batch.is_control:
        marker = read_marker(batch)
        return log.producers.check_marker(batch, marker) if marker else None
    is_asked = log.settings.is_transaction_verified
    is_verified = not is_asked or log.producers.is_verified(batch, verification)
    is_numbered = origin is Origin.CLIENT
    return log.producers.check(batch, is_numbered=is_numbered, is_verified=is_verified)


def _answer_again(log: Log, known: KeptBatch) -> Appended:
    offsets = known.first_offset, known.last_offset
    return Appended(*offsets, known.timestamp, log.start_offset, is_duplicate=True)


def _apply(log: Log, batch: Batch) -> None:
    aborted = apply_to(log.producers, batch)
    if aborted is None:
        return
    path = log.segments[-1].file(TRANSACTION_INDEX)
    log.segments[-1].note_aborted()
    try:
        append_aborted(log.files, path, aborted)
    except DiskFull as error:
        # The marker is in the log: without its entry readers would take aborted data for committed.
        raise DiskBroken(path, f"an aborted transaction could not be noted: {error}") from error
    log.names_count += 1


def _checked(log: Log, data: memoryview) -> tuple[list[Batch | Head], int]:
    """The entries and their bytes, if all are whole and in order."""
    expected, size, entries = log.end_offset, 0, []
    for octets in cut_entries(data):
        entry = check_entry(octets)
        if entry.base_offset < expected:
            reason = f"the leader sent offset {entry.base_offset}, not {expected} or later"
            raise UnexpectedOffset(log.directory, reason)
        entries.append(entry)
        size += len(octets)
        expected = entry.last_offset + 1
    return entries, size
