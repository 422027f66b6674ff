"""Removing files, in two steps: first another name, then, after a while, no name.

A reader may be at a file that retention takes away; `file.delete.delay.ms` is how long it has.
Who removes the files then is the shell, with the paths that it was given; after a crash it is
recovery.
"""

from __future__ import annotations

from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import DELETED
from odradek.kafka.storage.replay import snapshot_offsets
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.snapshots import snapshot_path
from odradek.runtime.disk import Disk


def retire_segments(log: Log, segments: list[Segment]) -> list[str]:
    """Rename the files of some segments, the oldest first; return what they are called now."""
    disk, retired = log.files.disk, []
    for segment in segments:
        paths = segment.existing_files(disk)
        snapshot = snapshot_path(log.directory, segment.base_offset)
        for path in [*paths, snapshot] if disk.exists(snapshot) else paths:
            log.files.close(path)
            disk.rename(path, path + DELETED)
            retired.append(path + DELETED)
    log.names_count += 1
    return retired


def remove_segments(log: Log, segments: list[Segment]) -> None:
    """Remove the files of some segments, the youngest first, for good.

    Were one to come back with a crash, it might by then follow what was written in its place.
    """
    for segment in reversed(segments):
        for path in segment.existing_files(log.files.disk):
            log.files.close(path)
            log.files.disk.remove(path)
    if segments:
        log.files.disk.sync_directory(log.directory)


def remove_snapshots(log: Log, from_offset: int) -> None:
    """Remove the producer snapshots from an offset on."""
    disk = log.files.disk
    for offset in snapshot_offsets(disk.list_directory(log.directory)):
        if offset >= from_offset:
            disk.remove(snapshot_path(log.directory, offset))


def remove_files(disk: Disk, paths: list[str]) -> None:
    """Remove files that were renamed for it; some may be gone."""
    for path in paths:
        if disk.exists(path):
            disk.remove(path)


def remove_directory(disk: Disk, path: str) -> None:
    """Remove a partition's directory with all that is in it."""
    for name in disk.list_directory(path):
        disk.remove(f"{path}/{name}")
    disk.remove(path)
