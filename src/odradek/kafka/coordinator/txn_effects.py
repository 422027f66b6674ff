"""What a transaction shard asks of its broker. The broker does it, and says how it went.

appends   to be appended to the shard's partition of `__transaction_state`, one batch each, in
          this order; then `appended` once the high watermark has passed it, or `append_failed`
answers   to be sent: what they tell is in the log, or changed nothing
markers   to be written into the partitions by their leaders; then `markers_answered`
"""

from __future__ import annotations

from dataclasses import dataclass, field

from odradek.kafka.coordinator.txn_records import StoredRecord
from odradek.kafka.coordinator.txn_state import NONE
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.wire.control import MarkerType
from odradek.kafka.wire.errors import ErrorCode

Token = object


@dataclass(frozen=True, slots=True)
class Append:
    """Records to be appended together, with acks of all replicas."""

    number: int
    records: tuple[StoredRecord, ...]
    timestamp_ms: int
    timeout_ms: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request; the producer is InitProducerId's."""

    token: Token
    code: ErrorCode
    producer_id: int = NONE
    producer_epoch: int = NONE


@dataclass(frozen=True, slots=True)
class Markers:
    """One marker for each of these partitions."""

    number: int
    transactional_id: str
    producer_id: int
    producer_epoch: int
    type: MarkerType
    coordinator_epoch: int
    partitions: tuple[TopicPartition, ...]


@dataclass(slots=True)
class Effects:
    """All that is to be done, each kind in its order."""

    appends: list[Append] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    markers: list[Markers] = field(default_factory=list)
