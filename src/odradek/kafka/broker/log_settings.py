"""What a topic's settings mean for its logs."""

from __future__ import annotations

from odradek.kafka.settings import BrokerSettings, CompressionType, TimestampType, TopicSettings
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.wire.compression import Codec

CODECS = {
    CompressionType.UNCOMPRESSED: Codec.NONE,
    CompressionType.GZIP: Codec.GZIP,
    CompressionType.SNAPPY: Codec.SNAPPY,
    CompressionType.LZ4: Codec.LZ4,
    CompressionType.ZSTD: Codec.ZSTD,
}


def log_settings(topic: TopicSettings, broker: BrokerSettings) -> LogSettings:
    """One for all partitions of a topic."""
    return LogSettings(
        segment_bytes=topic.segment_bytes,
        segment_ms=topic.segment_ms,
        segment_jitter_ms=topic.segment_jitter_ms,
        segment_index_bytes=topic.segment_index_bytes,
        index_interval_bytes=topic.index_interval_bytes,
        retention_ms=topic.retention_ms,
        retention_bytes=topic.retention_bytes,
        is_deleted=topic.is_deleted,
        is_compacted=topic.is_compacted,
        min_cleanable_dirty_ratio=topic.min_cleanable_dirty_ratio,
        min_compaction_lag_ms=topic.min_compaction_lag_ms,
        max_compaction_lag_ms=topic.max_compaction_lag_ms,
        delete_retention_ms=topic.delete_retention_ms,
        is_preallocated=topic.preallocate,
        file_delete_delay_ms=topic.file_delete_delay_ms,
        flush_messages=topic.flush_messages,
        flush_ms=topic.flush_ms,
        max_message_bytes=topic.max_message_bytes,
        compression=CODECS.get(topic.compression_type),
        compression_level=compression_level(topic),
        is_append_time=topic.message_timestamp_type is TimestampType.LOG_APPEND_TIME,
        timestamp_before_max_ms=topic.message_timestamp_before_max_ms,
        timestamp_after_max_ms=topic.message_timestamp_after_max_ms,
        producer_expiration_ms=broker.producer_id_expiration_ms,
        is_transaction_verified=broker.transaction_partition_verification_enable,
    )


def compression_level(topic: TopicSettings) -> int | None:
    """The level of the codec that the broker is to compress with; None: that codec's default."""
    if topic.compression_type is CompressionType.GZIP:
        return topic.compression_gzip_level
    if topic.compression_type is CompressionType.ZSTD:
        return topic.compression_zstd_level
    return None
