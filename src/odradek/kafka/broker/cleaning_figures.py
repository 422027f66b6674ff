"""What is counted while logs are cleaned, and what cannot be cleaned."""

from __future__ import annotations

from dataclasses import dataclass, field

from odradek.kafka.storage.cleaner_steps import CleanedGroup, Finished
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition


@dataclass(slots=True, eq=False)
class CleaningFigures:
    """Of one broker; `last` is of the cleaning that ended last."""

    cleanings: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    last_recopy_percent: float = 0.0
    last_buffer_percent: float = 0.0
    last_s: float = 0.0
    max_dirty_percent: float = 0.0  # Of all logs that were looked at last.
    max_delay_s: float = 0.0  # By how much the latest of them is late (max.compaction.lag.ms).
    looked_at_ms: int = 0
    uncleanable: dict[TopicPartition, tuple[Log, str]] = field(default_factory=dict)

    def uncleanable_by_directory(self, paths: list[str]) -> dict[str, int]:
        """How many logs of each log directory nobody can clean."""
        counts = dict.fromkeys(paths, 0)
        for log, _ in self.uncleanable.values():
            path = log.directory.rpartition("/")[0]
            counts[path] = counts.get(path, 0) + 1
        return counts


@dataclass(slots=True, eq=False)
class CleaningCount:
    """Of one cleaning that is under way."""

    bytes_read: int = 0
    bytes_written: int = 0
    records_read: int = 0
    records_kept: int = 0

    def add(self, group: CleanedGroup) -> None:
        self.bytes_read += group.bytes_read
        self.bytes_written += group.bytes_written
        self.records_read += group.records_read
        self.records_kept += group.records_kept

    def end(
        self, figures: CleaningFigures, step: Finished, map_bytes: int, duration_s: float
    ) -> None:
        figures.cleanings += 1
        figures.bytes_read += self.bytes_read
        figures.bytes_written += self.bytes_written
        figures.last_recopy_percent = 100 * self.bytes_written / max(1, self.bytes_read)
        figures.last_buffer_percent = 100 * step.map_bytes / map_bytes
        figures.last_s = duration_s
