"""Which segments a log may lose, and losing them.

The oldest go first, up to the first that must stay, and only what is below the high watermark.
They go when nobody can read them (below the start offset), when the log is too large without
them still, or when their youngest record is too old. If all are too old, so is the active one: a
new one begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import largest_timestamp
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.removal import retire_segments
from odradek.kafka.storage.tail import WaitingSource
from odradek.kafka.storage.view import SegmentView
from odradek.kafka.wire.errors import ErrorCode


class Retired(NamedTuple):
    """Files that are to be removed after a while, and why."""

    paths: list[str]
    reason: str


def retire_old_segments(log: Log, now_ms: int) -> list[Retired]:
    """Do what the topic's retention asks for; the caller removes the files later."""
    steps = [(_is_before_start(log), "below the log start offset")]
    if log.settings.is_deleted:
        steps.append((_is_too_much(log), f"retention.bytes {log.settings.retention_bytes}"))
        steps.append((_is_too_old(log, now_ms), f"retention.ms {log.settings.retention_ms}"))
    retired = []
    for is_due, reason in steps:
        if count := _count_due(log, is_due):
            retired.append(Retired(_retire(log, count, now_ms), reason))
    return retired


def raise_start_offset(log: Log, offset: int) -> Refusal | None:
    """Let the log begin later (DeleteRecords); what is before goes with the next retention."""
    if not 0 <= offset <= log.high_watermark:
        reason = f"cannot start at {offset}: the high watermark is {log.high_watermark}"
        return Refusal(ErrorCode.OFFSET_OUT_OF_RANGE, reason)
    if offset > log.start_offset:
        log.start_offset = offset
        log.epochs.truncate_before(offset)
    return None


def _retire(log: Log, count: int, now_ms: int) -> list[str]:
    if count == len(log.segments):
        log.roll(now_ms)
    gone, log.segments = log.segments[:count], log.segments[count:]
    paths = retire_segments(log, gone)
    log.start_offset = max(log.start_offset, log.segments[0].base_offset)
    log.epochs.truncate_before(log.start_offset)
    return paths


def _count_due(log: Log, is_due: Callable[[SegmentView], bool]) -> int:
    """How many of the oldest segments are due; an empty active one never is."""
    count = 0
    for view in log.views(0):
        is_empty = view.base_offset == view.next_offset
        if is_empty or view.next_offset > log.high_watermark or not is_due(view):
            break
        count += 1
    return count


def _is_before_start(log: Log) -> Callable[[SegmentView], bool]:
    active = log.segments[-1]
    return lambda view: view.segment is not active and view.next_offset <= log.start_offset


def _is_too_much(log: Log) -> Callable[[SegmentView], bool]:
    if log.settings.retention_bytes < 0:
        return lambda view: False
    excess = log.size() - log.settings.retention_bytes

    def is_due(view: SegmentView) -> bool:
        nonlocal excess
        known = view.size_known
        excess -= view.segment.size(log.files) if known is None else known
        return excess >= 0

    return is_due


def _is_too_old(log: Log, now_ms: int) -> Callable[[SegmentView], bool]:
    if log.settings.retention_ms < 0:
        return lambda view: False

    def is_due(view: SegmentView) -> bool:
        is_active = view.segment is log.segments[-1]
        known = log.active_timestamp if is_active else None
        return now_ms - youngest_time(log, view, known) > log.settings.retention_ms

    return is_due


def youngest_time(log: Log, view: SegmentView, known: int | None = None) -> int:
    """The largest timestamp, or the file's own time where records have none.

    Looked up once: retention comes again and again to logs that nobody writes to.
    """
    segment = view.segment
    if known is None and segment.max_timestamp is None:
        segment.max_timestamp = largest_timestamp(WaitingSource(log.files), view)
    timestamp = segment.max_timestamp if known is None else known
    if timestamp is None or timestamp < 0:
        return log.files.disk.modified_ms(view.path)
    return timestamp
