"""Which logs may have something to clean.

What there is to clean of a log grows when it finishes a segment, and changes with its settings; so
only those are measured, not all that there are. One that is not due yet is kept in mind as long as
time or the high watermark alone could make it so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import NamedTuple

from odradek.kafka.broker.upkeep import SLICE, Upkeep
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.dirty import Dirty, measure
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.settings import FOREVER


class Candidate(NamedTuple):
    """A log with something to clean, which may not be due yet."""

    directory: LogDirectory
    log: Log
    dirty: Dirty


class Candidates:
    """The logs of one broker that are worth a look."""

    def __init__(
        self, directories: LogDirectories, upkeep: Upkeep, clock: Callable[[], int]
    ) -> None:
        self._directories = directories
        self._upkeep = upkeep
        self._clock = clock
        self._worth: dict[TopicPartition, None] = {}

    def look_at(self, logs: Iterable[Log]) -> None:
        """Nobody knows yet what there is to clean of these."""
        self._worth |= {log.where: None for log in logs if log.settings.is_compacted}

    def all(self) -> Iterable[Log]:
        """All logs that are here, as after a start."""
        return (log for each in self._directories.online for log in each.logs.values())

    def _take_rolled(self) -> None:
        rolled = self._directories.files.rolled
        self._worth |= rolled
        rolled.clear()

    async def measured(self, is_skipped: Callable[[Log], bool]) -> AsyncIterator[Candidate]:
        """Those with something to clean; what is skipped now is looked at again."""
        self._take_rolled()
        for number, where in enumerate(list(self._worth), 1):
            found = self._find(where)
            if found is None:
                self._worth.pop(where, None)
            elif not is_skipped(found[1]) and (dirty := self.measure(*found)):
                yield Candidate(*found, dirty)
            if number % SLICE == 0:
                await asyncio.sleep(0)

    def _find(self, where: TopicPartition) -> tuple[LogDirectory, Log] | None:
        for directory in self._directories.online:
            log = directory.logs.get(where)
            if log is not None and log.settings.is_compacted:
                return directory, log
        return None

    def measure(self, directory: LogDirectory, log: Log) -> Dirty | None:
        """How dirty a log is; if that will not change by itself, it is not worth another look."""
        dirty = None
        with self._upkeep.watched(directory):
            dirty = measure(log, directory.cleaned.get(log.where), self._clock())
        if dirty is None or not (dirty.is_due(log.settings) or can_become_due(log, dirty)):
            self._worth.pop(log.where, None)
        return dirty


def can_become_due(log: Log, dirty: Dirty) -> bool:
    """Whether it may, without a new segment: by time, or because more of it is committed."""
    settings = log.settings
    has_lag = settings.min_compaction_lag_ms > 0 or settings.max_compaction_lag_ms < FOREVER
    return has_lag or dirty.first_uncleanable_offset < log.segments[-1].base_offset
