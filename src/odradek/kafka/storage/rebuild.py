"""A segment read from its first byte to the last that can be trusted, and its indexes made anew.

Every batch must have the checksum that it says, offsets beyond those of the one before, and an
epoch that is not older: an older one was truncated, and only its end has survived. What follows
the first that has not is cut off: nothing behind it was ever promised.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from odradek.kafka.storage.aborted import AbortedTransaction
from odradek.kafka.storage.entries import Entry, check_entry, read_entries
from odradek.kafka.storage.epochs import UNKNOWN, LeaderEpochs
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.heads import NO_TIMESTAMP, Head
from odradek.kafka.storage.index import OFFSET_ENTRY, TIME_ENTRY
from odradek.kafka.storage.names import OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.replay import apply_to
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.source import Source
from odradek.kafka.storage.tail import RELATIVE_OFFSET_MAX, WaitingSource
from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import CorruptBatch, InvalidRecord


@dataclass(slots=True)
class Rebuilt:
    """What a segment holds, and the indexes that say so."""

    base_offset: int
    next_offset: int
    size: int = 0
    problem: str = ""  # Why it ends there, if there is more behind.
    offsets: bytearray = field(default_factory=bytearray)
    times: bytearray = field(default_factory=bytearray)
    aborted: bytearray = field(default_factory=bytearray)
    max_timestamp: int = NO_TIMESTAMP
    _max_timestamp_offset: int = 0
    _time_noted: int = NO_TIMESTAMP
    _entry_position: int = 0

    def add(self, head: Head, interval_bytes: int) -> None:
        """One more batch."""
        if head.max_timestamp > self.max_timestamp:
            self.max_timestamp, self._max_timestamp_offset = head.max_timestamp, head.last_offset
        if self.size - self._entry_position > interval_bytes:
            self.offsets += OFFSET_ENTRY.pack(head.last_offset - self.base_offset, self.size)
            self.add_time()
            self._entry_position = self.size
        self.size = head.end
        self.next_offset = head.last_offset + 1

    def add_time(self) -> None:
        if self.max_timestamp > self._time_noted:
            relative = self._max_timestamp_offset - self.base_offset
            self.times += TIME_ENTRY.pack(self.max_timestamp, relative)
            self._time_noted = self.max_timestamp

    def add_aborted(self, aborted: AbortedTransaction | None) -> None:
        if aborted is not None:
            self.aborted += aborted.encode()


def rebuild(
    files: OpenFiles,
    segment: Segment,
    interval_bytes: int,
    producers: Producers,
    epochs: LeaderEpochs | None,
) -> Rebuilt:
    """Read a segment, cut what cannot be trusted, and write its indexes.

    `producers` are those at its base, and will be those at its end; `epochs` learn new ones.
    """
    source = WaitingSource(files)
    rebuilt = _read(source, segment, interval_bytes, producers, epochs)
    rebuilt.add_time()
    if rebuilt.problem:
        files.get(segment.path).truncate(rebuilt.size)
    _put(files, segment.file(OFFSET_INDEX), rebuilt.offsets)
    _put(files, segment.file(TIME_INDEX), rebuilt.times)
    path = segment.file(TRANSACTION_INDEX)
    if rebuilt.aborted or files.disk.exists(path):
        _put(files, path, rebuilt.aborted)
    producers.end_offset = rebuilt.next_offset
    segment.forget()
    return rebuilt


def _read(
    source: Source,
    segment: Segment,
    interval_bytes: int,
    producers: Producers,
    epochs: LeaderEpochs | None,
) -> Rebuilt:
    rebuilt = Rebuilt(segment.base_offset, segment.base_offset)
    end = source.size(segment.path)
    for entry in read_entries(source, segment.path, 0, end):
        if problem := _problem(entry, rebuilt, epochs.latest if epochs is not None else UNKNOWN):
            rebuilt.problem = problem
            return rebuilt
        rebuilt.add(entry.head, interval_bytes)
        if epochs is not None and entry.head.leader_epoch > epochs.latest:
            epochs.assign(entry.head.leader_epoch, entry.head.base_offset)
        if batch := entry.batch():
            rebuilt.add_aborted(apply_to(producers, batch))
    if rebuilt.size < end:
        rebuilt.problem = "no whole batch follows"
    return rebuilt


def _problem(entry: Entry, rebuilt: Rebuilt, latest_epoch: int) -> str:
    head = entry.head
    if UNKNOWN < head.leader_epoch < latest_epoch:
        return f"epoch {head.leader_epoch} comes after {latest_epoch}"
    if head.base_offset < rebuilt.next_offset or head.last_offset < head.base_offset:
        return f"offset {head.base_offset} comes after {rebuilt.next_offset - 1}"
    if head.last_offset - rebuilt.base_offset > RELATIVE_OFFSET_MAX:
        return f"offset {head.last_offset} is too far from {rebuilt.base_offset}"
    try:
        batch = check_entry(entry.data)
        if isinstance(batch, Batch) and batch.is_control:
            apply_to(Producers(), batch)  # A marker that cannot be read raises here.
    except (CorruptBatch, InvalidRecord) as error:
        return str(error)
    return ""


def _put(files: OpenFiles, path: str, data: bytearray) -> None:
    file = files.get(path, create=True)
    if file.pread(0, len(data) + 1) != data:
        file.truncate(0)
        file.write(0, data)
