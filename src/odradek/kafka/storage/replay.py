"""The producers' state, from a snapshot and what the log says behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.entries import read_entries
from odradek.kafka.storage.errors import CorruptSnapshot
from odradek.kafka.storage.names import SNAPSHOT, read_file_name
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.snapshots import read_snapshot, snapshot_path
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.view import SegmentView
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.control import read_marker
from odradek.runtime.disk import Disk


def apply_to(producers: Producers, batch: Batch) -> AbortedTransaction | None:
    """Take account of a batch that is in the log; return what it aborts."""
    if batch.producer_id < 0:
        return None
    if not batch.is_control:
        producers.apply_batch(batch)
        return None
    marker = read_marker(batch)
    return producers.apply_marker(batch, marker) if marker else None


def snapshot_offsets(names: Iterable[str]) -> list[int]:
    """The offsets that have a snapshot, the earliest first."""
    found = (read_file_name(name) for name in names)
    return sorted(file.base_offset for file in found if file and file.kind == SNAPSHOT)


def newest_snapshot(disk: Disk, directory: str, offset_max: int) -> Producers:
    """The newest that can be read, up to an offset; those that cannot are removed."""
    for offset in reversed(snapshot_offsets(disk.list_directory(directory))):
        if offset <= offset_max:
            try:
                return read_snapshot(disk, directory, offset)
            except CorruptSnapshot:
                disk.remove(snapshot_path(directory, offset))
    return Producers()


def load_producers(
    disk: Disk, directory: str, views: Sequence[SegmentView], end_offset: int
) -> Producers:
    """What is known at the end of the log."""
    producers = newest_snapshot(disk, directory, end_offset)
    with ColdSource(disk) as source:
        for view in views:
            if view.next_offset > producers.end_offset:
                replay(source, view, producers)
    producers.end_offset = end_offset
    return producers


def replay(source: ColdSource, view: SegmentView, producers: Producers) -> None:
    """Take account of all batches of a segment from the producers' offset on."""
    first = next(view.heads_from(source, producers.end_offset), None)
    if first is None:
        return
    for entry in read_entries(source, view.path, first.position, view.size(source)):
        if batch := entry.batch():
            apply_to(producers, batch)
    producers.end_offset = view.next_offset
