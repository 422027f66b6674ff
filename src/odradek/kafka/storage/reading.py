"""Reading a log, now or later.

The loop reads what memory holds. What would have to wait for the device comes back as a `Later`,
to be run in another thread; the log may meanwhile grow, but what is read is the log as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from odradek.kafka.storage import lookup
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Fetched, TimedOffset, Wanted
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.source import ColdSource, NotCached, Source, WarmSource
from odradek.kafka.wire.errors import ErrorCode
from odradek.runtime.errors import ProtocolError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Later(Generic[Result]):
    """A reading for which one must wait: `run` it in another thread."""

    log: Log
    work: Callable[[Source], Result]
    changes_count: int

    @property
    def is_outdated(self) -> bool:
        """Whether other files have taken the place of those that were read: ask the log again.

        To be asked by the log's own thread too, once it is done: it may have just been in time.
        """
        return self.changes_count != _changes_count(self.log)

    def run(self) -> Result:
        """FileNotFoundError means that the segment is gone by now: ask the log again."""
        try:
            with ColdSource(self.log.files.disk) as source:
                return self.work(source)
        except ProtocolError as error:
            if self.is_outdated:
                raise FileNotFoundError(f"{self.log.directory} was changed meanwhile") from error
            raise


def now_or_later(log: Log, work: Callable[[Source], Result]) -> Result | Later[Result]:
    """The result, if memory has all that it takes."""
    try:
        return work(WarmSource(log.files))
    except NotCached:
        return Later(log, work, _changes_count(log))


def _changes_count(log: Log) -> int:
    """How often a position in a file came to mean something else."""
    return log.cuts_count + log.swaps_count


def read(
    log: Log,
    offset: int,
    bytes_max: int,
    upper_offset: int,
    *,
    is_first_whole: bool = True,
    is_committed: bool = False,
) -> Fetched | Later[Fetched] | Refusal:
    """Whole batches from the one that holds an offset on, as far as they begin below the upper one.

    The upper offset is the high watermark, the last stable offset or the end, as the reader may
    see; `is_committed` adds the aborted transactions.
    """
    if not log.start_offset <= offset <= log.end_offset:
        reason = f"offset {offset} is not within {log.start_offset} and {log.end_offset}"
        return Refusal(ErrorCode.OFFSET_OUT_OF_RANGE, reason)
    if offset >= upper_offset:
        return Fetched(b"", offset)
    fetched: Fetched | Later[Fetched] | None = None
    if upper_offset >= log.end_offset and not is_committed:
        fetched = log.latest(offset, bytes_max)
    if fetched is None:
        wanted = Wanted(offset, bytes_max, upper_offset, is_first_whole)
        fetched = _read_files(log, wanted, is_committed=is_committed)
    if isinstance(fetched, Fetched) and fetched.segment is not None:
        fetched.segment.remember(fetched.next_offset, fetched.next_position)
        if fetched.next_offset >= log.end_offset:
            log.await_next()
    return fetched


def _read_files(log: Log, wanted: Wanted, *, is_committed: bool) -> Fetched | Later[Fetched]:
    offset = wanted.offset
    number = log.number_of(offset)
    is_committed = is_committed and _has_aborted(log, number)
    position = None if is_committed else log.segments[number].remembered(offset)
    work: Callable[[Source], Fetched]
    if position is not None:
        work = partial(
            lookup.fetch_at, view=log.bare_view(number), position=position, wanted=wanted
        )
    else:
        fetch = lookup.fetch_committed if is_committed else lookup.fetch
        work = partial(fetch, views=log.views(number), wanted=wanted)
    return now_or_later(log, work)


def _has_aborted(log: Log, number: int) -> bool:
    """Whether a transaction with records in this segment may be among the aborted ones.

    It is listed where its marker is: here, or in a later segment.
    """
    disk = log.files.disk
    return any(segment.has_aborted(disk) for segment in log.segments[number:])


def offset_since(log: Log, timestamp: int) -> TimedOffset | Later[TimedOffset | None] | None:
    """The first record that is not older than a time."""
    views, start_offset = log.views(log.number_of(log.start_offset)), log.start_offset
    return now_or_later(
        log, lambda source: lookup.first_since(source, views, timestamp, start_offset)
    )


def youngest(log: Log) -> TimedOffset | Later[TimedOffset | None] | None:
    """The first record with the largest timestamp."""
    views, active = log.views(log.number_of(log.start_offset)), log.active_timestamp
    return now_or_later(log, lambda source: lookup.youngest(source, views, active))
