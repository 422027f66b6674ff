"""Logs to try things on, and what clients would send to them."""

from __future__ import annotations

from collections.abc import Sequence

from odradek.kafka.storage.appending import Appended, append
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.reading import Later, read
from odradek.kafka.storage.recover import NEW, Checkpointed, Recovered, recover
from odradek.kafka.storage.refusal import Refusal
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.validate import Origin
from odradek.kafka.wire.batch import read_batches
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.compression import Codec
from odradek.kafka.wire.control import Marker, MarkerType, write_marker
from odradek.kafka.wire.records import Record, read_records
from odradek.runtime.disk import Disk

NOW_MS = 1_700_000_000_000
WHERE = TopicPartition("t", 0)
DIRECTORY = "/data/t-0"
# Small enough that a few records bring index entries, and some more a new segment.
SMALL = LogSettings(segment_bytes=600, index_interval_bytes=100, segment_index_bytes=120)


def open_log(
    disk: Disk, settings: LogSettings = SMALL, known: Checkpointed = NEW, files: int = 100
) -> Recovered:
    disk.make_directories(DIRECTORY)
    return recover(OpenFiles(disk, files), DIRECTORY, WHERE, settings, known)


def new_log(disk: Disk, settings: LogSettings = SMALL) -> Log:
    return open_log(disk, settings).log


def batch_of(
    values: Sequence[bytes | None],
    *,
    timestamp: int = NOW_MS,
    key: bytes | None = None,
    producer_id: int = -1,
    producer_epoch: int = 0,
    sequence: int = 0,
    is_transactional: bool = False,
    codec: Codec = Codec.NONE,
) -> bytes:
    """What a producer sends."""
    numbered = (producer_epoch, sequence) if producer_id >= 0 else (-1, -1)
    envelope = Envelope(
        codec=codec,
        producer_id=producer_id,
        producer_epoch=numbered[0],
        base_sequence=numbered[1],
        is_transactional=is_transactional,
    )
    records = [Record(offset, timestamp, key, value) for offset, value in enumerate(values)]
    return bytes(write_batch(records, envelope))


def put(log: Log, *values: bytes, timestamp: int = NOW_MS, epoch: int = 0) -> Appended:
    """Append one batch."""
    return put_batch(log, batch_of(values, timestamp=timestamp), epoch=epoch)


def put_batch(log: Log, data: bytes, *, epoch: int = 0, origin: Origin = Origin.CLIENT) -> Appended:
    appended = append(log, data, epoch, NOW_MS, origin)
    assert isinstance(appended, Appended), appended
    return appended


def refused(log: Log, data: bytes, origin: Origin = Origin.CLIENT) -> Refusal:
    refusal = append(log, data, 0, NOW_MS, origin)
    assert isinstance(refusal, Refusal), refusal
    return refusal


def end_transaction(
    log: Log, producer_id: int, kind: MarkerType, *, epoch: int = 0, coordinator_epoch: int = 0
) -> Appended:
    marker = marker_of(producer_id, kind, epoch=epoch, coordinator_epoch=coordinator_epoch)
    return put_batch(log, marker, origin=Origin.COORDINATOR)


def marker_of(
    producer_id: int, kind: MarkerType, *, epoch: int = 0, coordinator_epoch: int = 0
) -> bytes:
    marker = Marker(kind, coordinator_epoch)
    data = write_marker(marker, producer_id=producer_id, producer_epoch=epoch, now_ms=NOW_MS)
    return bytes(data)


def get(log: Log, offset: int, bytes_max: int = 1 << 20, upper: int | None = None) -> Fetched:
    """Read, waiting if need be."""
    upper = log.end_offset if upper is None else upper
    return waited(read(log, offset, bytes_max, upper))


def get_committed(log: Log, offset: int, bytes_max: int = 1 << 20) -> Fetched:
    upper = log.last_stable_offset
    return waited(read(log, offset, bytes_max, upper, is_committed=True))


def waited(fetched: Fetched | Later[Fetched] | Refusal) -> Fetched:
    if isinstance(fetched, Later):
        fetched = fetched.run()
    assert isinstance(fetched, Fetched), fetched
    return fetched


def records_in(fetched: Fetched) -> list[Record]:
    batches = read_batches(memoryview(fetched.data))
    return [record for batch in batches for record in read_records(batch)]


def all_records(log: Log, bytes_max: int = 1 << 20) -> list[Record]:
    """Everything from the start offset on, as a consumer would gather it; gaps may be last."""
    found: list[Record] = []
    offset = log.start_offset
    while offset < log.end_offset:
        fetched = get(log, offset, bytes_max)
        if not fetched.data:
            break
        found += (each for each in records_in(fetched) if each.offset >= offset)
        offset = fetched.next_offset
    return found


def values_of(log: Log) -> dict[int, bytes | None]:
    return {record.offset: record.value for record in all_records(log)}
