"""The files of a partition, read as they are: of a broker that runs or does not, ours or Apache's.

Nothing is changed and nothing is locked. The last segment of a broker that runs may end in the
middle of a batch, and its indexes in zeros: they are made as long as they may grow.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odradek.cli.payloads import Format, shown
from odradek.cli.reading import time_text
from odradek.kafka.storage.aborted import read_aborted
from odradek.kafka.storage.checkpoints import read_checkpoint
from odradek.kafka.storage.index import OFFSET_ENTRY, TIME_ENTRY
from odradek.kafka.storage.names import (
    LOG,
    OFFSET_INDEX,
    SNAPSHOT,
    TIME_INDEX,
    TRANSACTION_INDEX,
    read_file_name,
)
from odradek.kafka.storage.snapshots import decode
from odradek.kafka.wire.batch import ENTRY_START, MAGIC_POSITION, Batch, cut_entries
from odradek.kafka.wire.batch_errors import CorruptBatch
from odradek.kafka.wire.control import read_marker
from odradek.kafka.wire.message_set import read_message_set
from odradek.kafka.wire.records import read_records
from odradek.runtime.errors import OdradekError
from odradek.runtime.os_disk import OsDisk

CHECKPOINT = "checkpoint"
Row = dict[str, Any]


class NoLogFile(OdradekError):
    """A file that is none of a partition's."""


def rows_of(path: Path, *, with_records: bool = False) -> Iterator[Row]:
    """What a file holds, row by row; each says its `kind`."""
    named = read_file_name(path.name)
    if named is None:
        if not path.name.endswith(CHECKPOINT):
            raise NoLogFile(f"{path} is no segment, index, snapshot or checkpoint")
        for words in read_checkpoint(OsDisk(), str(path.absolute())):
            yield {"kind": "checkpoint", "fields": words}
    elif named.kind == LOG:
        yield from batches(path, with_records=with_records)
    elif named.kind == OFFSET_INDEX:
        for delta, position in entries(path, OFFSET_ENTRY):
            yield {"kind": "index", "offset": named.base_offset + delta, "position": position}
    elif named.kind == TIME_INDEX:
        for time_ms, delta in entries(path, TIME_ENTRY):
            yield {"kind": "timeindex", "timestamp": time_ms, "offset": named.base_offset + delta}
    elif named.kind == TRANSACTION_INDEX:
        for aborted in read_aborted(path.read_bytes()):
            yield {"kind": "aborted", **aborted._asdict()}
    elif named.kind == SNAPSHOT:
        yield from producers(path, named.base_offset)


def entries(path: Path, form: Any) -> Iterator[tuple[int, int]]:
    """The entries of an index, up to the zeros that it may end in."""
    data = path.read_bytes()
    whole = data[: len(data) - len(data) % form.size]
    for number, entry in enumerate(form.iter_unpack(whole)):
        if number and not any(entry):
            return
        if any(entry):
            yield entry


def producers(path: Path, offset: int) -> Iterator[Row]:
    for it in decode(path.read_bytes(), offset, str(path)).known.values():
        yield {
            "kind": "producer",
            "producer_id": it.producer_id,
            "epoch": it.epoch,
            "last_sequence": it.last_sequence,
            "last_offset": it.batches[-1].last_offset if it.batches else None,
            "open_since": None if it.first_offset < 0 else it.first_offset,
            "time": time_text(it.timestamp),
        }


def content(path: Path) -> memoryview:
    """A file without reading it: segments may be large."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def batches(path: Path, *, with_records: bool) -> Iterator[Row]:
    """The batches of a segment; one that is damaged says so, and what comes after is unknown."""
    data, position = content(path), 0
    try:
        for entry in cut_entries(data):
            yield from batch_rows(entry, position, with_records=with_records)
            position += len(entry)
    except CorruptBatch as error:
        yield {"kind": "damage", "position": position, "problem": str(error)}
        return
    if position < len(data) and any(data[position : position + ENTRY_START.size]):
        said = f"{len(data) - position} bytes that are no whole batch"
        yield {"kind": "rest", "position": position, "problem": said}


def batch_rows(entry: memoryview, position: int, *, with_records: bool) -> Iterator[Row]:
    magic = entry[MAGIC_POSITION]
    if magic < 2:
        offset, _ = ENTRY_START.unpack_from(entry)
        yield {
            "kind": "message",
            "position": position,
            "bytes": len(entry),
            "magic": magic,
            "offset": offset,
        }
        if with_records:
            yield from map(record_row, read_message_set(entry))
        return
    batch = Batch(entry)
    yield batch_row(batch, position)
    if with_records and not batch.is_control:
        yield from map(record_row, read_records(batch))


def batch_row(batch: Batch, position: int) -> Row:
    try:
        batch.check_crc()
        problem = None
    except CorruptBatch as error:
        problem = str(error)
    return {
        "kind": "batch",
        "position": position,
        "bytes": len(batch.data),
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "records": batch.record_count,
        "leader_epoch": batch.leader_epoch,
        "codec": batch.codec.name.lower(),
        "time": time_text(batch.max_timestamp),
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "sequence": batch.base_sequence,
        "transactional": batch.is_transactional,
        "control": marker_of(batch) if batch.is_control else None,
        "problem": problem,
    }


def marker_of(batch: Batch) -> str:
    marker = read_marker(batch)
    return "unknown" if marker is None else marker.type.name.lower()


def record_row(record: Any) -> Row:
    return {
        "kind": "record",
        "offset": record.offset,
        "time": time_text(record.timestamp),
        "key": shown(record.key, Format.TEXT),
        "value": shown(record.value, Format.TEXT),
        "headers": [[name, shown(value, Format.TEXT)] for name, value in record.headers],
    }
