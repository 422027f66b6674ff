"""Partitions on disk: where they are, how they roll, and when they go."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.settings.kinds import (
    CLEANUP_POLICY,
    LONG_MAX,
    NATURAL,
    NATURAL_LONG,
    POSITIVE,
    POSITIVE_LONG,
)
from odradek.runtime.chapters import Chapter
from odradek.runtime.declarations import HOUR_MS, MINUTE_MS, setting
from odradek.runtime.kinds import BOOLEAN, INT, LIST, LONG, STRING


class LogDirectorySettings(Chapter):
    """Where logs are, and how they are recovered."""

    log_dir: str = setting("log.dir", STRING, default="/tmp/kafka-logs")
    given_log_dirs: str | None = setting("log.dirs", STRING, default=None)
    log_dir_failure_timeout_ms: int = setting(
        "log.dir.failure.timeout.ms", POSITIVE_LONG, default=30_000
    )
    num_recovery_threads_per_data_dir: int = setting(
        "num.recovery.threads.per.data.dir", POSITIVE, default=1
    )
    given_num_replica_alter_log_dirs_threads: int | None = setting(
        "num.replica.alter.log.dirs.threads", INT, default=None
    )
    log_initial_task_delay_ms: int = setting(
        "log.initial.task.delay.ms", NATURAL_LONG, default=30_000
    )

    @property
    def log_dirs(self) -> tuple[str, ...]:
        given = self.log_dir if self.given_log_dirs is None else self.given_log_dirs
        return tuple(path for path in LIST.read(given.strip()) if path)

    @property
    def num_replica_alter_log_dirs_threads(self) -> int:
        given = self.given_num_replica_alter_log_dirs_threads
        return len(self.log_dirs) if given is None else given

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if not self.log_dirs:
            yield "log.dirs", "must name at least one directory"

    def cautions(self) -> Iterator[tuple[str, str]]:
        key = "log.dir" if self.given_log_dirs is None else "log.dirs"
        if any(not path.startswith("/") for path in self.log_dirs):
            yield key, "is relative to the directory that the broker is started in"
        if len(set(self.log_dirs)) < len(self.log_dirs):
            yield key, "names a directory twice"


class SegmentSettings(Chapter):
    """When a segment ends, and what lies beside it."""

    log_segment_bytes: int = setting("log.segment.bytes", INT.at_least(14), default=1 << 30)
    log_segment_delete_delay_ms: int = setting(
        "log.segment.delete.delay.ms", NATURAL_LONG, default=60_000
    )
    log_roll_hours: int = setting("log.roll.hours", POSITIVE, default=168)
    log_roll_jitter_hours: int = setting("log.roll.jitter.hours", NATURAL, default=0)
    given_log_roll_jitter_ms: int | None = setting("log.roll.jitter.ms", LONG, default=None)
    given_log_roll_ms: int | None = setting("log.roll.ms", LONG, default=None)
    log_index_interval_bytes: int = setting("log.index.interval.bytes", NATURAL, default=4 << 10)
    log_index_size_max_bytes: int = setting(
        "log.index.size.max.bytes", INT.at_least(4), default=10 << 20
    )
    log_preallocate: bool = setting("log.preallocate", BOOLEAN, default=False)

    @property
    def log_roll_ms(self) -> int:
        given = self.given_log_roll_ms
        return self.log_roll_hours * HOUR_MS if given is None else given

    @property
    def log_roll_jitter_ms(self) -> int:
        given = self.given_log_roll_jitter_ms
        return self.log_roll_jitter_hours * HOUR_MS if given is None else given

    def disagreements(self) -> Iterator[tuple[str, str]]:
        if self.log_roll_ms < 1:
            yield "log.roll.ms", "must be at least 1"
        if self.log_roll_jitter_ms < 0:
            yield "log.roll.jitter.ms", "must be at least 0"


class RetentionSettings(Chapter):
    """How long records stay."""

    log_retention_bytes: int = setting("log.retention.bytes", LONG, default=-1)
    log_retention_check_interval_ms: int = setting(
        "log.retention.check.interval.ms", POSITIVE_LONG, default=300_000
    )
    log_retention_hours: int = setting("log.retention.hours", INT, default=168)
    log_retention_minutes: int | None = setting("log.retention.minutes", INT, default=None)
    given_log_retention_ms: int | None = setting("log.retention.ms", LONG, default=None)
    log_local_retention_bytes: int = setting(
        "log.local.retention.bytes", LONG.at_least(-2), default=-2
    )
    log_local_retention_ms: int = setting("log.local.retention.ms", LONG.at_least(-2), default=-2)
    log_cleanup_policy: tuple[str, ...] = setting(
        "log.cleanup.policy", CLEANUP_POLICY, default=("delete",)
    )

    @property
    def log_retention_ms(self) -> int:
        """-1 is for ever, and so is whatever else is below zero."""
        _, given, unit_ms = self._given_retention()
        return given * unit_ms if given >= 0 else -1

    def disagreements(self) -> Iterator[tuple[str, str]]:
        key, given, _ = self._given_retention()
        if given == 0:
            yield key, "must be at least 1, or -1 for ever"

    def _given_retention(self) -> tuple[str, int, int]:
        """The key that counts, its value, and the milliseconds in its unit."""
        if self.given_log_retention_ms is not None:
            return "log.retention.ms", self.given_log_retention_ms, 1
        if self.log_retention_minutes is not None:
            return "log.retention.minutes", self.log_retention_minutes, MINUTE_MS
        return "log.retention.hours", self.log_retention_hours, HOUR_MS


class FlushSettings(Chapter):
    """When records are forced to disk, and checkpoints written."""

    log_flush_interval_messages: int = setting(
        "log.flush.interval.messages", POSITIVE_LONG, default=LONG_MAX
    )
    given_log_flush_interval_ms: int | None = setting("log.flush.interval.ms", LONG, default=None)
    log_flush_offset_checkpoint_interval_ms: int = setting(
        "log.flush.offset.checkpoint.interval.ms", NATURAL, default=60_000
    )
    log_flush_scheduler_interval_ms: int = setting(
        "log.flush.scheduler.interval.ms", LONG, default=LONG_MAX
    )
    log_flush_start_offset_checkpoint_interval_ms: int = setting(
        "log.flush.start.offset.checkpoint.interval.ms", NATURAL, default=60_000
    )

    @property
    def log_flush_interval_ms(self) -> int:
        given = self.given_log_flush_interval_ms
        return self.log_flush_scheduler_interval_ms if given is None else given
