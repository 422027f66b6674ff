"""The log cleaner, which keeps the last record of each key."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import (
    DAY_MS,
    DOUBLE_MAX,
    LONG_MAX,
    NATURAL,
    NATURAL_LONG,
    POSITIVE_LONG,
)
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import setting
from odradek.runtime.kinds import BOOLEAN, DOUBLE, LONG

BUFFER_MIN_BYTES = 1 << 20  # A thread.


class CleanerSettings(Chapter):
    """How eagerly compacted logs are cleaned."""

    log_cleaner_backoff_ms: int = setting("log.cleaner.backoff.ms", NATURAL_LONG, default=15_000)
    log_cleaner_dedupe_buffer_size: int = setting(
        "log.cleaner.dedupe.buffer.size", LONG, default=128 << 20
    )
    log_cleaner_delete_retention_ms: int = setting(
        "log.cleaner.delete.retention.ms", NATURAL_LONG, default=DAY_MS
    )
    log_cleaner_enable: bool = setting("log.cleaner.enable", BOOLEAN, default=True)
    log_cleaner_io_buffer_load_factor: float = setting(
        "log.cleaner.io.buffer.load.factor", DOUBLE, default=0.9
    )
    log_cleaner_io_buffer_size: int = setting(
        "log.cleaner.io.buffer.size", NATURAL, default=512 << 10
    )
    log_cleaner_io_max_bytes_per_second: float = setting(
        "log.cleaner.io.max.bytes.per.second", DOUBLE, default=DOUBLE_MAX
    )
    log_cleaner_max_compaction_lag_ms: int = setting(
        "log.cleaner.max.compaction.lag.ms", POSITIVE_LONG, default=LONG_MAX
    )
    log_cleaner_min_cleanable_ratio: float = setting(
        "log.cleaner.min.cleanable.ratio", DOUBLE.between(0, 1), default=0.5
    )
    log_cleaner_min_compaction_lag_ms: int = setting(
        "log.cleaner.min.compaction.lag.ms", NATURAL_LONG, default=0
    )
    log_cleaner_threads: int = setting("log.cleaner.threads", NATURAL, default=1)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.log_cleaner_threads == 0:
            yield "log.cleaner.threads", "must be at least 1"
        elif self.log_cleaner_dedupe_buffer_size // self.log_cleaner_threads <= BUFFER_MIN_BYTES:
            yield (
                "log.cleaner.dedupe.buffer.size",
                "must be more than 1 MiB for each cleaner thread",
            )
