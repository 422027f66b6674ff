"""What a topic's configuration says about its logs, typed. The defaults are those of Kafka 3.9."""

from __future__ import annotations

from dataclasses import dataclass, field

from odradek.kafka.wire.compression import Codec

FOREVER = 2**63 - 1
DAY_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    """One for all partitions of a topic; a change of configuration brings a new one."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    segment_jitter_ms: int = 0
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    retention_ms: int = 7 * DAY_MS  # -1: for ever.
    retention_bytes: int = -1  # -1: without a limit.
    is_deleted: bool = True  # cleanup.policy contains delete...
    is_compacted: bool = False  # ...and compact.
    min_cleanable_dirty_ratio: float = 0.5
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = FOREVER
    delete_retention_ms: int = DAY_MS  # How long a tombstone can be seen once it was cleaned.
    is_preallocated: bool = False  # New segments have their full size from the start.
    file_delete_delay_ms: int = 60_000
    flush_messages: int = FOREVER
    flush_ms: int = FOREVER
    max_message_bytes: int = 1_048_588
    compression: Codec | None = None  # None: as the producer sent it.
    compression_level: int | None = None  # That codec's own; None: its default.
    is_append_time: bool = False  # message.timestamp.type=LogAppendTime
    timestamp_before_max_ms: int = FOREVER
    timestamp_after_max_ms: int = FOREVER
    producer_expiration_ms: int = DAY_MS
    # transaction.partition.verification.enable. Off here, for it takes a coordinator to ask.
    is_transaction_verified: bool = False

    # What follows from the above, found once and not for each batch.
    roll_ms: int = field(init=False)  # When a segment is old.
    has_timestamp_limits: bool = field(init=False)  # Whether a record's time can be wrong at all.
    has_rules_for_records: bool = field(init=False)  # Batches of clients must be opened.
    is_rewriting: bool = field(init=False)  # Batches may get another codec, or other times.
    batch_bytes_max: int = field(init=False)
    is_flushed_by_count: bool = field(init=False)

    def __post_init__(self) -> None:
        # What must be compacted in time must not stay active.
        compacted_ms = self.max_compaction_lag_ms if self.is_compacted else FOREVER
        limits = self.timestamp_before_max_ms, self.timestamp_after_max_ms
        has_limits = not self.is_append_time and min(limits) < FOREVER
        has_rules = self.is_compacted or has_limits
        found = object.__setattr__
        found(self, "roll_ms", min(self.segment_ms, compacted_ms))
        found(self, "has_timestamp_limits", has_limits)
        found(self, "has_rules_for_records", has_rules)
        found(self, "is_rewriting", self.compression is not None or self.is_append_time)
        found(self, "batch_bytes_max", min(self.max_message_bytes, self.segment_bytes))
        found(self, "is_flushed_by_count", self.flush_messages < FOREVER)


DEFAULTS = LogSettings()
