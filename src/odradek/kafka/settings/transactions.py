"""Transactions and idempotent producers."""

from __future__ import annotations

from odradek.kafka.settings.kinds import DAY_MS, POSITIVE
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import HOUR_MS, setting
from odradek.runtime.kinds import BOOLEAN, SHORT


class TransactionSettings(Chapter):
    """How long transactions and producers are remembered, and where."""

    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = setting(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", POSITIVE, default=10_000
    )
    transaction_max_timeout_ms: int = setting(
        "transaction.max.timeout.ms", POSITIVE, default=900_000
    )
    transaction_partition_verification_enable: bool = setting(
        "transaction.partition.verification.enable", BOOLEAN, default=True
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = setting(
        "transaction.remove.expired.transaction.cleanup.interval.ms", POSITIVE, default=HOUR_MS
    )
    transaction_state_log_load_buffer_size: int = setting(
        "transaction.state.log.load.buffer.size", POSITIVE, default=5 << 20
    )
    transaction_state_log_min_isr: int = setting(
        "transaction.state.log.min.isr", POSITIVE, default=2
    )
    transaction_state_log_num_partitions: int = setting(
        "transaction.state.log.num.partitions", POSITIVE, default=50
    )
    transaction_state_log_replication_factor: int = setting(
        "transaction.state.log.replication.factor", SHORT.at_least(1), default=3
    )
    transaction_state_log_segment_bytes: int = setting(
        "transaction.state.log.segment.bytes", POSITIVE, default=100 << 20
    )
    transactional_id_expiration_ms: int = setting(
        "transactional.id.expiration.ms", POSITIVE, default=7 * DAY_MS
    )
    producer_id_expiration_check_interval_ms: int = setting(
        "producer.id.expiration.check.interval.ms", POSITIVE, default=600_000
    )
    producer_id_expiration_ms: int = setting("producer.id.expiration.ms", POSITIVE, default=DAY_MS)
