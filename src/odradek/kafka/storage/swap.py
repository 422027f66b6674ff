"""Cleaned segments take the place of those that they were made from.

`.cleaned` → `.swap`, the old files → `.deleted`, `.swap` → their own names, in this order and for
one group after the other. Names change in order, so a crash leaves a swap that has not begun,
which recovery undoes, or one that has, which it completes. What is swapped in was synced before,
so all of this is renaming, and the loop need not wait; the checkpoint, which is elsewhere, must.

A log that was cut, or has lost some of the segments, is left as it is.
"""

from __future__ import annotations

from typing import NamedTuple

from odradek.kafka.storage.cleaner import Cleaning
from odradek.kafka.storage.cleaner_steps import CleanedGroup, Finished, Stopped, Uncleanable
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import CLEANED, DELETED, SEGMENT_FILES, SWAP
from odradek.kafka.storage.removal import retire_segments
from odradek.kafka.storage.segment import Segment
from odradek.runtime.disk import Disk, DiskBroken, DiskFull


def swap_in(log: Log, cleaning: Cleaning, group: CleanedGroup) -> list[str] | None:
    """Swap; return files to be removed after a while, or None if it cannot be done any more."""
    first = _find(log, group) if log.cuts_count == cleaning.cuts_count else None
    if first is None:
        return None
    old = log.segments[first : first + len(group.base_offsets)]
    new = Segment(log.directory, group.base_offsets[0])
    log.swaps_count += 1  # First of all: readers in other threads may be in the midst of it.
    try:
        _rename(log.files.disk, new, CLEANED, SWAP)
        retired = _retire(log, old)
        _rename(log.files.disk, new, SWAP, "")
    except DiskFull as error:
        raise DiskBroken(new.path, f"neither old nor new: {error}") from error
    log.segments[first : first + len(old)] = [new]
    log.names_count += 1
    cleaning.groups_swapped += 1
    return retired


class Seal(NamedTuple):
    """The swaps made safe, in whatever thread; only then may a checkpoint call the log clean."""

    disk: Disk
    directory: str
    end_offset: int
    cuts_count: int

    def run(self) -> None:
        self.disk.sync_directory(self.directory)


def end_cleaning(
    log: Log, cleaning: Cleaning, outcome: Finished | Stopped | Uncleanable
) -> Seal | Stopped | Uncleanable:
    """What to make of how it ended.

    What is read of a log that is being cut may look like anything; and what was not swapped in is
    not clean.
    """
    if log.cuts_count != cleaning.cuts_count:
        return Stopped("the log was cut")
    if not isinstance(outcome, Finished):
        return outcome
    if outcome.groups_count != cleaning.groups_swapped:
        return Stopped("the log has lost some of the segments")
    return Seal(log.files.disk, log.directory, outcome.end_offset, log.cuts_count)


def _find(log: Log, group: CleanedGroup) -> int | None:
    """Where the segments of a group stand, all of them, in the log."""
    first, count = log.number_of(group.base_offsets[0]), len(group.base_offsets)
    found = tuple(each.base_offset for each in log.segments[first : first + count])
    is_finished = first + count < len(log.segments)
    return first if found == group.base_offsets and is_finished else None


def _retire(log: Log, old: list[Segment]) -> list[str]:
    """Rename the old files; the snapshot at the first offset remains one of a segment's."""
    replaced, others = old[0], old[1:]
    retired = []
    for path in replaced.existing_files(log.files.disk):
        log.files.close(path)
        log.files.disk.rename(path, path + DELETED)
        retired.append(path + DELETED)
    return retired + retire_segments(log, others)


def _rename(disk: Disk, segment: Segment, before: str, after: str) -> None:
    for path in (segment.file(kind) for kind in SEGMENT_FILES):
        if disk.exists(path + before):
            disk.rename(path + before, path + after)
