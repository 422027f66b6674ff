"""Segments of a `log.dirs` folder, read entry by entry, with no broker.

Where the newest segment of a partition ends in the middle of a batch, or in bytes that are none,
the rest is a torn tail: a broker that was killed leaves one behind, and would cut it off. It is
skipped and told. The same in an older segment is damage, and an error that names the place.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from typing import NamedTuple

from odradek.kafka.client.errors import TopicPartition
from odradek.kafka.client.fetcher import entry_bytes
from odradek.kafka.storage.names import LOG, Purpose, read_directory_name, read_file_name
from odradek.kafka.wire.batch import MAGIC_POSITION, Batch, cut_entries
from odradek.kafka.wire.message_set import read_message
from odradek.runtime.errors import OdradekError, ProtocolError
from odradek.runtime.frames import Lender
from odradek.spark.log_files import Files, ReadableFile

LOGGER = logging.getLogger(__name__)
CHUNK_BYTES = 2 * 1024 * 1024  # What is made of it, and it, should fit into a processor's cache.


class Segment(NamedTuple):
    """The records of a partition from one offset on, in one file."""

    path: str
    partition: TopicPartition
    base_offset: int
    is_newest: bool


class DamagedSegment(OdradekError):
    """Bytes in the middle of a log that are no batch."""

    def __init__(self, segment: Segment, position: int, reason: object) -> None:
        super().__init__(f"{segment.path}, byte {position} ({segment.partition}): {reason}")
        self.position = position


def find_segments(files: Files, folder: str, topics: Collection[str] | None) -> list[Segment]:
    """The segments below a folder, of all topics or of some, in the order of their offsets."""
    found: list[Segment] = []
    for name in files.list_directory(folder):
        read = read_directory_name(name)
        path = f"{folder}/{name}"
        if read is None or read[1] is not Purpose.LIVE or not files.is_directory(path):
            continue
        if topics is None or read[0].topic in topics:
            found += _segments_of(files, path, TopicPartition(*read[0]))
    return found


def _segments_of(files: Files, folder: str, partition: TopicPartition) -> list[Segment]:
    named = [(read_file_name(name), name) for name in files.list_directory(folder)]
    logs = sorted(
        (read.base_offset, name)
        for read, name in named
        if read and read.kind == LOG and not read.state
    )
    return [
        Segment(f"{folder}/{name}", partition, base_offset, number == len(logs) - 1)
        for number, (base_offset, name) in enumerate(logs)
    ]


def read_segment(
    files: Files,
    segment: Segment,
    *,
    chunk_bytes: int = CHUNK_BYTES,
    lender: Lender | None = None,
) -> Iterator[list[memoryview]]:
    """Whole entries whose checksums are right, some at a time.

    With a lender they lie in what it lends, and are good until the next are asked for.
    """
    with files.open(segment.path, read_only=True) as file:
        position, size = 0, file.size()
        while position < size:
            entries, reason = _read_some(file, position, size, chunk_bytes, lender)
            if entries:
                yield entries
            position += sum(map(len, entries))
            if reason is not None:
                _tell(segment, position, size, reason)
                return


def _read_some(
    file: ReadableFile, position: int, size: int, chunk_bytes: int, lender: Lender | None
) -> tuple[list[memoryview], object]:
    """The entries from a position on, and what is wrong with the one after them, if anything is."""
    data = _read(file, position, min(chunk_bytes, size - position), lender)
    needed = entry_bytes(data)
    if len(data) < needed <= size - position:
        data = _read(file, position, needed, lender)
    entries: list[memoryview] = []
    try:
        for entry in cut_entries(data):
            _check(entry)
            entries.append(entry)
    except ProtocolError as error:
        return entries, error
    if not entries:
        return entries, f"{size - position} bytes are left, and {needed} would be needed"
    return entries, None


def _read(file: ReadableFile, position: int, count: int, lender: Lender | None) -> memoryview:
    room = None if lender is None else lender(count)
    if room is None:
        return memoryview(file.pread(position, count))
    return room[: file.pread_into(position, room)]


def _check(entry: memoryview) -> None:
    if entry[MAGIC_POSITION] == 2:
        Batch(entry).check_crc()
    else:
        read_message(entry)


def _tell(segment: Segment, position: int, size: int, reason: object) -> None:
    if not segment.is_newest:
        raise DamagedSegment(segment, position, reason)
    LOGGER.warning(
        "%s: a torn tail of %d bytes from byte %d on is skipped: %s",
        segment.path,
        size - position,
        position,
        reason,
    )
