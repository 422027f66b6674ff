"""Cleaning one log: of each key the newest record stays, in its place and under its offset.

The log begins it and goes on; `run` does the work elsewhere, with handles of its own, and gives
one cleaned segment after the other. The log swaps each in (`swap`) when it hears of it, so no
more room is taken than for what is under way. The last that `run` gives is how it ended.

What is to be superseded must be as safe as what supersedes it: before anything is left out, the
dirty part is synced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from odradek.kafka.storage.cleaner_filter import BatchFilter, LastOfProducer, last_of_producers
from odradek.kafka.storage.cleaner_groups import Sized, group_segments
from odradek.kafka.storage.cleaner_output import CleanedFiles, remove_cleaned
from odradek.kafka.storage.cleaner_steps import (
    CleanedGroup,
    CleaningStep,
    Finished,
    Pace,
    Stop,
    Stopped,
    Uncleanable,
)
from odradek.kafka.storage.cleaner_transactions import CleanedTransactions
from odradek.kafka.storage.dirty import Dirty
from odradek.kafka.storage.entries import Entry, read_entries
from odradek.kafka.storage.errors import CorruptLog
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import aborted_between
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.offset_map import OffsetMap
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.sketch import Key, sketch
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.view import SegmentView
from odradek.kafka.wire.batch_errors import (
    BatchTooLarge,
    CorruptBatch,
    InvalidRecord,
    UnsupportedCodec,
)
from odradek.kafka.wire.message_set import read_message, unwrap
from odradek.runtime.disk import Disk, DiskFull

NOT_CLEANABLE = CorruptLog, CorruptBatch, InvalidRecord, UnsupportedCodec, BatchTooLarge
MAP_BYTES = (128 << 20) * 9 // 10  # log.cleaner.dedupe.buffer.size x its load factor
BUFFER_BYTES = 512 << 10  # log.cleaner.io.buffer.size


@dataclass(slots=True)
class Cleaning:
    """Made and finished by the log's own thread; run in another, or another process."""

    where: TopicPartition
    directory: str
    settings: LogSettings
    views: list[SegmentView]  # What may be cleaned, oldest first.
    later: list[SegmentView]  # What is behind it: transactions may end there.
    first_dirty_offset: int
    last_of: dict[int, LastOfProducer]
    now_ms: int
    cuts_count: int
    map_bytes: int = MAP_BYTES
    buffer_bytes: int = BUFFER_BYTES
    groups_swapped: int = 0

    def run(self, disk: Disk, pace: Pace | None = None) -> Iterator[CleaningStep]:
        """Groups, each of them safe and ready to be swapped in, and how it ended."""
        try:
            yield from _Run(self, disk, pace or Pace()).steps()
        except Stop as stop:
            yield Stopped(str(stop))
        except (DiskFull, FileNotFoundError) as error:
            yield Stopped(str(error))  # Retention or a deletion may have been here.
        except NOT_CLEANABLE as error:
            yield Uncleanable(str(error))


def begin_cleaning(
    log: Log,
    dirty: Dirty,
    now_ms: int,
    map_bytes: int = MAP_BYTES,
    buffer_bytes: int = BUFFER_BYTES,
) -> Cleaning:
    """Take a view of what is to be cleaned; nothing changes yet."""
    count = sum(each.base_offset < dirty.first_uncleanable_offset for each in log.segments)
    plain = [SegmentView(view.segment, view.next_offset) for view in log.views(0)]
    assert count < len(plain), "the active segment is never cleaned"
    return Cleaning(
        log.where,
        log.directory,
        log.settings,
        plain[:count],
        plain[count:],
        dirty.first_dirty_offset,
        last_of_producers(log.producers),
        now_ms,
        log.cuts_count,
        map_bytes,
        buffer_bytes,
    )


class _Run:
    """The work of one cleaning."""

    def __init__(self, cleaning: Cleaning, disk: Disk, pace: Pace) -> None:
        self._cleaning = cleaning
        self._disk = disk
        self._pace = pace

    def steps(self) -> Iterator[CleanedGroup | Finished]:
        cleaning = self._cleaning
        remove_cleaned(self._disk, cleaning.directory)
        dirty = [v for v in cleaning.views if v.next_offset > cleaning.first_dirty_offset]
        self._sync(dirty)
        newest = self._map(dirty)
        groups = self._groups(newest.end_offset)
        chooser = BatchFilter(
            newest,
            self._transactions(cleaning.views, 0),
            cleaning.last_of,
            cleaning.now_ms,
            cleaning.settings.delete_retention_ms,
        )
        oldest_ms = self._old_tombstones_since()
        for group in groups:
            yield self._clean(group, chooser, oldest_ms)
        yield Finished(newest.end_offset, len(groups), len(newest), newest.size)

    def _sync(self, views: Sequence[SegmentView]) -> None:
        for view in views:
            with self._disk.open(view.path) as file:
                file.sync()
        self._disk.sync_directory(self._cleaning.directory)

    def _map(self, views: Sequence[SegmentView]) -> OffsetMap:
        """The newest batch of each key of the dirty part, as far as there is room for them."""
        start = self._cleaning.first_dirty_offset
        newest = OffsetMap(self._cleaning.map_bytes, start)
        transactions = self._transactions(views, start)
        for view in views:
            for entry in self._entries(view, start):
                keys = _keys(entry, transactions)
                if not newest.has_room_for(keys):
                    return newest
                newest.add(keys, entry.head.base_offset)
                newest.end_offset = entry.head.last_offset + 1
            newest.end_offset = view.next_offset
        return newest

    def _transactions(self, views: Sequence[SegmentView], start: int) -> CleanedTransactions:
        """Those that were aborted, of which some of these segments may have data."""
        if not views:
            return CleanedTransactions(())
        behind = [*self._cleaning.views, *self._cleaning.later]
        with ColdSource(self._disk) as source:
            first = max(start, views[0].base_offset)
            aborted = aborted_between(source, behind, first, views[-1].next_offset)
        return CleanedTransactions(aborted)

    def _groups(self, end_offset: int) -> list[list[SegmentView]]:
        sized = []
        for view in self._cleaning.views:
            if view.base_offset < end_offset:
                with ColdSource(self._disk) as source:
                    counts = view.offsets(source), view.times(source)
                    sizes = (index.entry_count * index.form.size for index in counts)
                    sized.append(Sized(view, view.size(source), *sizes))
        settings = self._cleaning.settings
        return group_segments(sized, settings.segment_bytes, settings.segment_index_bytes)

    def _old_tombstones_since(self) -> int:
        """Before this time of a file, tombstones of the old formats are of no use any more."""
        start = self._cleaning.first_dirty_offset
        clean = [view for view in self._cleaning.views if view.base_offset < start]
        if not clean:
            return 0
        retention_ms = self._cleaning.settings.delete_retention_ms
        return self._disk.modified_ms(clean[-1].path) - retention_ms

    def _clean(
        self, group: Sequence[SegmentView], chooser: BatchFilter, oldest_ms: int
    ) -> CleanedGroup:
        settings, first = self._cleaning.settings, group[0].segment
        files = CleanedFiles(self._disk, first, settings.index_interval_bytes)
        records_read, records_kept, bytes_read = chooser.records_read, chooser.records_kept, 0
        try:
            modified_ms = 0
            for view in group:
                modified_ms = self._disk.modified_ms(view.path)
                chooser.keeps_old_tombstones = modified_ms > oldest_ms
                bytes_read += self._clean_segment(view, chooser, files)
            files.finish(chooser.aborted, modified_ms)
            self._disk.sync_directory(self._cleaning.directory)
        except (Stop, DiskFull, FileNotFoundError, *NOT_CLEANABLE):
            files.discard()
            raise
        chooser.aborted.clear()
        return CleanedGroup(
            tuple(view.base_offset for view in group),
            bytes_read,
            files.size,
            chooser.records_read - records_read,
            chooser.records_kept - records_kept,
        )

    def _clean_segment(self, view: SegmentView, chooser: BatchFilter, files: CleanedFiles) -> int:
        bytes_read = 0
        for entry in self._entries(view):
            bytes_read += entry.head.size
            left = chooser.filter(entry)
            if left is not None:
                files.append(left)
                self._pace.count(len(left))
        return bytes_read

    def _entries(self, view: SegmentView, start: int = 0) -> Iterator[Entry]:
        """The entries of a segment that end at or after an offset; all must be whole."""
        self._pace.rest()
        with ColdSource(self._disk) as source:
            end = view.size(source)
            first = next(view.heads_from(source, start), None) if start else None
            position = first.position if first else end if start > view.base_offset else 0
            next_offset, buffer_bytes = view.base_offset, self._cleaning.buffer_bytes
            for entry in read_entries(source, view.path, position, end, buffer_bytes):
                head = entry.head
                if not next_offset <= head.base_offset <= head.last_offset < view.next_offset:
                    reason = f"offset {head.base_offset} at {head.position} is out of order"
                    raise CorruptLog(view.path, reason)
                yield entry
                position, next_offset = head.end, head.last_offset + 1
                self._pace.count(head.size)
            if position != end:
                raise CorruptLog(view.path, f"no whole batch is at {position} of {end}")


def _keys(entry: Entry, transactions: CleanedTransactions) -> list[Key]:
    """The keys that a batch says something new of: those of aborted data do not count."""
    batch = entry.batch()
    if batch is None:
        return [record.key for record in unwrap(read_message(entry.data))]
    batch.check_crc()
    if batch.is_control:
        transactions.end(batch)
        return []
    return [] if transactions.is_aborted(batch) else sketch(batch).keys
