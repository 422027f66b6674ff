"""Control batches: the markers that end transactions.

One record: its key holds a version and a type (0 abort, 1 commit), its value a version and the
epoch of the coordinator that decided. Readers skip types that they do not know, and take later
versions for this one with something added.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from odradek.kafka.wire.batch import Batch
from odradek.kafka.wire.batch_errors import InvalidRecord
from odradek.kafka.wire.batch_writer import Envelope, write_batch
from odradek.kafka.wire.records import Record, read_records

VERSION = 0
RECORD_BYTES_MAX = 4096  # A marker takes some 20, whatever a later version adds to it.
_KEY = Struct(">hh")
_VALUE = Struct(">hi")


class MarkerType(IntEnum):
    """How a transaction ended."""

    ABORT = 0
    COMMIT = 1


class Marker(NamedTuple):
    """The end of a transaction, and the epoch of the coordinator that decided it."""

    type: MarkerType
    coordinator_epoch: int


def read_marker(batch: Batch) -> Marker | None:
    """The marker in a control batch; None if it is of a kind that we do not know."""
    record = next(read_records(batch, RECORD_BYTES_MAX), None)
    if record is None:
        return None  # Cleaned away.
    version, number = _unpack(_KEY, record.key)
    if version < 0:
        raise InvalidRecord(f"version {version} of a control record")
    if number not in (MarkerType.ABORT, MarkerType.COMMIT):
        return None
    version, coordinator_epoch = _unpack(_VALUE, record.value)
    if version < 0:
        raise InvalidRecord(f"version {version} of a transaction marker")
    return Marker(MarkerType(number), coordinator_epoch)


def write_marker(
    marker: Marker,
    *,
    producer_id: int,
    producer_epoch: int,
    now_ms: int,
    base_offset: int = 0,
    leader_epoch: int = -1,
) -> bytearray:
    """The control batch that ends this producer's transaction."""
    key = _KEY.pack(VERSION, marker.type)
    value = _VALUE.pack(VERSION, marker.coordinator_epoch)
    envelope = Envelope(
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )
    return write_batch([Record(base_offset, now_ms, key, value)], envelope)


def _unpack(form: Struct, data: bytes | None) -> tuple[int, int]:
    if data is None or len(data) < form.size:
        raise InvalidRecord(f"a control record lacks the {form.size} bytes of its key or value")
    first, second = form.unpack_from(data)
    return first, second
