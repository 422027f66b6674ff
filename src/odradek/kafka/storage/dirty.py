"""Which log the cleaner should take next, and up to where.

    start ... clean ... first dirty ... dirty ... first uncleanable ... active segment

Clean is what an earlier cleaning has seen whole. What may change its mind is left alone: the
active segment, all from the last stable offset on, and segments with records younger than
min.compaction.lag.ms. A log is due when enough of it is dirty, or when its oldest dirty record
has waited for max.compaction.lag.ms; of those that are due, the dirtiest is next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from odradek.kafka.storage.log import Log
from odradek.kafka.storage.retention import youngest_time
from odradek.kafka.storage.settings import FOREVER, LogSettings
from odradek.kafka.storage.tail import WaitingSource
from odradek.kafka.storage.view import SegmentView

Anything = TypeVar("Anything")


class Dirty(NamedTuple):
    """How dirty a log is."""

    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    dirty_bytes: int
    overdue_ms: int = 0  # How long the oldest dirty record has waited in excess.
    is_reset: bool = False  # What the checkpoint says is wrong, and must be written anew.

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_due(self, settings: LogSettings) -> bool:
        if self.overdue_ms and self.dirty_bytes:
            return True
        return self.ratio > settings.min_cleanable_dirty_ratio


class Extent(NamedTuple):
    """A finished segment, as far as it counts here."""

    base_offset: int
    size: int


def dirtiest(candidates: Iterable[tuple[Anything, LogSettings, Dirty]]) -> Anything | None:
    """The one to clean next; None if none is due."""
    due = [(dirty.ratio, each) for each, settings, dirty in candidates if dirty.is_due(settings)]
    return max(due, key=lambda pair: pair[0])[1] if due else None


def first_dirty(cleaned_offset: int | None, start_offset: int, end_offset: int) -> tuple[int, bool]:
    """Where the dirty part begins, and whether the checkpoint cannot be believed.

    One that is behind the end tells of a log that has lost its own: nothing is known to be clean.
    """
    if cleaned_offset is None:
        return start_offset, False
    if start_offset <= cleaned_offset <= end_offset:
        return cleaned_offset, False
    return start_offset, True


def weigh(
    segments: Sequence[Extent], dirty_offset: int, uncleanable_offset: int
) -> tuple[int, int, int]:
    """The first offset that must be left alone, at a segment's base, and the bytes before it.

    They are those of segments that begin in the clean part, and those with dirty records in them;
    a segment may be both.
    """
    bases = [segment.base_offset for segment in segments]
    holder = max((base for base in bases if base <= uncleanable_offset), default=bases[0])
    first = max((base for base in bases if base <= dirty_offset), default=bases[0])
    clean = sum(each.size for each in segments if each.base_offset < dirty_offset)
    dirty = sum(each.size for each in segments if first <= each.base_offset < holder)
    return holder, clean, dirty


def measure(log: Log, cleaned_offset: int | None, now_ms: int) -> Dirty | None:
    """How dirty a compacted log is; None if there is nothing to clean.

    It is asked of all logs again and again: what is clean up to its active segment costs nothing.
    """
    start, is_reset = first_dirty(cleaned_offset, log.start_offset, log.end_offset)
    active = log.segments[-1].base_offset
    if start >= active:
        return Dirty(start, active, 0, 0, is_reset=True) if is_reset else None
    views = log.views(log.number_of(start))[:-1]
    uncleanable = max(start, min(log.last_stable_offset, active, _too_young(log, views, now_ms)))
    finished = (Extent(each.base_offset, each.size(log.files)) for each in log.segments[:-1])
    # The active segment is never weighed, only what is before it.
    holder, clean, dirty = weigh([*finished, Extent(active, 0)], start, uncleanable)
    return Dirty(start, holder, clean, dirty, _overdue_ms(log, views, now_ms), is_reset)


def _too_young(log: Log, views: Sequence[SegmentView], now_ms: int) -> int:
    """The base of the first dirty segment with a record that has not waited long enough."""
    lag_ms = log.settings.min_compaction_lag_ms
    if lag_ms > 0:
        for view in views:
            if youngest_time(log, view) > now_ms - lag_ms:
                return view.base_offset
    return log.end_offset


def _overdue_ms(log: Log, views: Sequence[SegmentView], now_ms: int) -> int:
    if log.settings.max_compaction_lag_ms == FOREVER:
        return 0
    source = WaitingSource(log.files)
    heads = (next(view.heads_from(source, view.base_offset), None) for view in views)
    times = [head.max_timestamp for head in heads if head is not None and head.max_timestamp > 0]
    oldest_ms = min(times, default=now_ms)
    return max(0, now_ms - log.settings.max_compaction_lag_ms - oldest_ms)
