"""Producer snapshots: what was known of all producers before an offset.

version 1 | CRC-32C of the rest | count | entries of 46 bytes. Only the last batch of each
producer is kept. A snapshot spares the reading of the log before it; one that cannot be read is
passed over.
"""

from __future__ import annotations

from struct import Struct

from odradek.kafka.storage.checkpoints import read_whole
from odradek.kafka.storage.errors import CorruptSnapshot
from odradek.kafka.storage.names import SNAPSHOT, offset_name
from odradek.kafka.storage.producers import NONE, KeptBatch, Producer, Producers
from odradek.kafka.wire.crc import crc32c
from odradek.runtime.disk import Disk

VERSION = 1
HEADER = Struct(">hI")
COUNT = Struct(">i")
ENTRY = Struct(">qhiqiqiq")


def snapshot_path(directory: str, offset: int) -> str:
    return f"{directory}/{offset_name(offset, SNAPSHOT)}"


def write_snapshot(disk: Disk, directory: str, producers: Producers) -> str:
    """Write what is known at `end_offset`, and say where; it is synced with the next flush."""
    path = snapshot_path(directory, producers.end_offset)
    with disk.open(path, create=True) as file:
        file.truncate(0)
        file.append(encode(producers))
    return path


def read_snapshot(disk: Disk, directory: str, offset: int) -> Producers:
    """What was known at this offset, or `CorruptSnapshot`."""
    path = snapshot_path(directory, offset)
    return decode(read_whole(disk, path) or b"", offset, path)


def encode(producers: Producers) -> bytes:
    known = sorted(producers.known.items())
    body = COUNT.pack(len(known)) + b"".join(_entry(producer) for _, producer in known)
    return HEADER.pack(VERSION, crc32c(body)) + body


def decode(data: bytes, offset: int, path: str) -> Producers:
    if len(data) < HEADER.size + COUNT.size:
        raise CorruptSnapshot(path, f"only {len(data)} bytes")
    version, crc = HEADER.unpack_from(data)
    body = data[HEADER.size :]
    (count,) = COUNT.unpack_from(body)
    if version != VERSION or crc32c(body) != crc:
        raise CorruptSnapshot(path, f"version {version}, or a wrong checksum")
    if len(body) != COUNT.size + count * ENTRY.size:
        raise CorruptSnapshot(path, f"{count} producers in {len(body)} bytes")
    producers = Producers(offset)
    for fields in ENTRY.iter_unpack(body[COUNT.size :]):
        producers.add(_producer(*fields))
    return producers


def _entry(producer: Producer) -> bytes:
    last = producer.batches[-1] if producer.batches else KeptBatch(NONE, NONE, 0, NONE)
    return ENTRY.pack(
        producer.producer_id,
        producer.epoch,
        last.last_sequence,
        last.last_offset,
        last.offset_delta,
        producer.timestamp,
        producer.coordinator_epoch,
        producer.first_offset,
    )


def _producer(
    producer_id: int,
    epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    first_offset: int,
) -> Producer:
    producer = Producer(producer_id, epoch, timestamp, coordinator_epoch, first_offset)
    if last_offset >= 0:
        producer.batches.append(KeptBatch(last_sequence, last_offset, offset_delta, timestamp))
    return producer
