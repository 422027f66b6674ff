"""What server.properties says to the transaction coordinator. The defaults are Kafka's."""

from __future__ import annotations

from dataclasses import dataclass

HOUR_MS = 60 * 60 * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionShardSettings:
    """One for all shards of a broker."""

    timeout_max_ms: int = 900_000  # transaction.max.timeout.ms
    id_expiration_ms: int = 7 * 24 * HOUR_MS  # transactional.id.expiration.ms
    # transaction.abort.timed.out.transaction.cleanup.interval.ms
    abort_interval_ms: int = 10_000
    # transaction.remove.expired.transaction.cleanup.interval.ms
    expire_interval_ms: int = HOUR_MS
    request_timeout_ms: int = 30_000  # request.timeout.ms, for tombstones.
    batch_bytes_max: int = 1_048_588  # max.message.bytes of `__transaction_state`.
    retry_ms: int = 100  # Between attempts at markers, and at noting that they are written.


DEFAULTS = TransactionShardSettings()
