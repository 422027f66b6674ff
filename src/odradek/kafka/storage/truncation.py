"""A log that gives up its end, because the leader's is another, or all that it has.

Segments behind the new end go first, the last one before the others, so that whatever a crash
leaves is a prefix. The recovery point goes back with the end: whoever calls this has written the
lower one down before, or recovery would trust what comes after.
"""

from __future__ import annotations

from odradek.kafka.storage.aborted import ENTRY, read_aborted
from odradek.kafka.storage.checkpoints import read_whole
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TRANSACTION_INDEX
from odradek.kafka.storage.removal import remove_segments, remove_snapshots
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.view import SegmentView


def truncate_to(log: Log, offset: int) -> None:
    """Let the log end at an offset, or before it where that is inside a batch."""
    if offset >= log.end_offset:
        return
    if offset < log.segments[0].base_offset:
        restart_at(log, offset)
        return
    log.sleep()
    keep = log.number_of(offset) + 1
    remove_segments(log, log.segments[keep:])
    del log.segments[keep:]
    _cut_segment(log, log.segments[-1], offset)
    _forget_from(log, log.end_offset)


def restart_at(log: Log, offset: int) -> None:
    """Drop everything, and begin anew at an offset."""
    log.sleep()
    remove_segments(log, log.segments)
    segment = Segment(log.directory, offset)
    log.files.get(segment.path, create=True).truncate(0)
    log.segments = [segment]
    log.start_offset = log.end_offset = offset
    log.epochs.clear()
    remove_snapshots(log, 0)
    log.high_watermark = offset
    _forget_from(log, offset)


def _forget_from(log: Log, offset: int) -> None:
    log.start_offset = min(log.start_offset, offset)
    log.recovery_point = min(log.recovery_point, offset)
    log.flushed_offset = min(log.flushed_offset, offset)
    log.high_watermark = min(log.high_watermark, offset)
    log.cuts_count += 1
    log.names_count += 1
    log.epochs.truncate_from(offset)
    remove_snapshots(log, offset + 1)
    log.know_producers(None)


def _cut_segment(log: Log, segment: Segment, offset: int) -> None:
    """Cut the batches first: an index that knows too much is a hint that is not followed."""
    segment.forget()
    with ColdSource(log.files.disk) as source:
        view = SegmentView(segment, log.end_offset)
        head = next(view.heads_from(source, offset), None)
        if head is not None:
            log.files.get(segment.path).truncate(head.position)
        log.end_offset, _ = view.end(source)
        relative_max = log.end_offset - segment.base_offset - 1
        offsets, times = view.offsets(source), view.times(source)
        offset_count = offsets.count_up_to(source, relative_max)
        time_count = times.count_up_to(source, relative_max, field=1)
    for index, count in ((offsets, offset_count), (times, time_count)):
        log.files.get(index.path, create=True).truncate(count * index.form.size)
    _cut_aborted(log, segment)


def _cut_aborted(log: Log, segment: Segment) -> None:
    path = segment.file(TRANSACTION_INDEX)
    entries = read_aborted(read_whole(log.files.disk, path) or b"")
    kept = sum(entry.last_offset < log.end_offset for entry in entries)
    if kept < len(entries):
        log.files.get(path).truncate(kept * ENTRY.size)
