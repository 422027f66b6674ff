"""The log cleaner: compacted logs lose what newer records have superseded, the dirtiest first.

So many logs are cleaned at once as log.cleaner.threads says, each by a worker; they share
log.cleaner.io.max.bytes.per.second. The loop swaps in what a worker gives, and only when that is
safe on disk does the checkpoint say so. While one is under way, retention leaves its log alone,
and a log of the same name, begun anew, has to wait for its end. What cannot be cleaned is said
once, and not tried again; whatever else ends a cleaning is tried again later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NamedTuple, Protocol

from odradek.kafka.broker.cleaning_candidates import Candidate, Candidates
from odradek.kafka.broker.cleaning_figures import CleaningCount, CleaningFigures
from odradek.kafka.broker.cleaning_process import CleanerDied, CleanerProcess, NoCleaner
from odradek.kafka.broker.cleaning_thread import CleanerThread
from odradek.kafka.broker.upkeep import LONGEST_S, Upkeep
from odradek.kafka.settings import BrokerSettings
from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.cleaner import Cleaning, begin_cleaning
from odradek.kafka.storage.cleaner_steps import CleanedGroup, CleaningStep, Finished, Uncleanable
from odradek.kafka.storage.directories import LogDirectories
from odradek.kafka.storage.directory import LogDirectory
from odradek.kafka.storage.dirty import dirtiest
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.kafka.storage.swap import Seal, end_cleaning, swap_in
from odradek.runtime.clock import stopwatch
from odradek.runtime.logs import NodeLog
from odradek.runtime.os_disk import OsDisk
from odradek.runtime.tasks import Tasks

IDLE_S = 60.0  # A worker with nothing to do is kept so long; then its memory is given back.
BUFFER_MIN_BYTES = 4096


class Cleaner(Protocol):
    """Whoever does the work: it cleans one log at a time."""

    async def begin(self, cleaning: Cleaning) -> None: ...

    async def step(self) -> CleaningStep: ...

    def set_rate(self, bytes_per_second: float) -> None: ...

    def halt(self) -> None: ...

    async def close(self) -> None: ...


class Job(NamedTuple):
    """One cleaning that is under way."""

    directory: LogDirectory
    log: Log
    cleaning: Cleaning
    cleaner: Cleaner
    ended: asyncio.Event


class LogCleaner:
    """Cleans the logs of one broker."""

    def __init__(
        self,
        directories: LogDirectories,
        upkeep: Upkeep,
        settings: Callable[[], BrokerSettings],
        clock: Callable[[], int],
        tasks: Tasks,
        note: NodeLog,
    ) -> None:
        self.figures = CleaningFigures()
        self._directories = directories
        self._upkeep = upkeep
        self._settings = settings
        self._clock = clock
        self._tasks = tasks
        self._note = note
        self._candidates = Candidates(directories, upkeep, clock)
        self._jobs: dict[TopicPartition, Job] = {}
        self._idle: list[tuple[float, Cleaner]] = []  # Since when, oldest first.
        self._again = asyncio.Event()  # There may be more to do before the pause is over.
        self._entries: dict[str, int] = {}  # How many the last checkpoint of each directory had.

    def start(self) -> None:
        """Clean as long as the broker runs, unless log.cleaner.enable says no."""
        if self._settings().log_cleaner_enable:
            self._upkeep.is_being_cleaned = self.is_cleaning
            self._candidates.look_at(self._candidates.all())
            self._entries = {it.path: len(it.cleaned) for it in self._directories.online}
            self._tasks.start("log cleaner", self._run())

    def is_cleaning(self, log: Log) -> bool:
        return log.where in self._jobs

    def settings_changed(self, logs: Iterable[Log]) -> None:
        """Those of the broker, or of these logs: they may be due now, or in haste."""
        self._candidates.look_at(logs)
        self._share_rate()

    async def halt(self, where: TopicPartition) -> None:
        """Have no cleaning of this partition under way, before its log is cut or goes."""
        if job := self._jobs.get(where):
            job.cleaner.halt()
            await job.ended.wait()

    # Which, and when

    async def _run(self) -> None:
        try:
            while True:
                self._again.clear()
                await self.look()
                await self._close_idle(IDLE_S)
                backoff_s = max(1, self._settings().log_cleaner_backoff_ms) / 1000
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(backoff_s, LONGEST_S)):
                        await self._again.wait()
        finally:
            await self._close_idle(0.0)

    async def look(self) -> None:
        """Find out what there is to clean, and begin with as much as may be done at once."""
        self._forget_gone()
        found = [it async for it in self._candidates.measured(self._is_skipped)]
        self._note_look(found)
        for directory in {it.directory.path: it.directory for it in found}.values():
            await self._reset([it for it in found if it.directory is directory], directory)
        for directory in list(self._directories.online):
            if len(directory.cleaned) != self._entries.get(directory.path, 0):
                await self._write(directory)
        while len(self._jobs) < self._settings().log_cleaner_threads:
            chosen = dirtiest((it, it.log.settings, it.dirty) for it in found)
            if chosen is None:
                return
            found.remove(chosen)
            is_there = chosen.directory.logs.get(chosen.log.where) is chosen.log
            if is_there and not self._is_skipped(chosen.log):
                self._begin(chosen)

    def _is_skipped(self, log: Log) -> bool:
        """One that moves to another directory is cleaned there."""
        where = log.where
        if where in self._jobs or where in self.figures.uncleanable:
            return True
        return self._directories.find_future(where) is not None

    def _forget_gone(self) -> None:
        """Logs that were deleted need not be cleaned, nor remembered."""
        for where, job in self._jobs.items():
            if self._directories.find(where) is not job.log:
                job.cleaner.halt()
        marked = self.figures.uncleanable
        for where, (log, _) in list(marked.items()):
            if self._directories.find(where) is not log:
                del marked[where]

    def _note_look(self, found: list[Candidate]) -> None:
        figures = self.figures
        figures.looked_at_ms = self._clock()
        figures.max_dirty_percent = max((100 * it.dirty.ratio for it in found), default=0.0)
        figures.max_delay_s = max((it.dirty.overdue_ms / 1000 for it in found), default=0.0)

    async def _reset(self, found: list[Candidate], directory: LogDirectory) -> None:
        """Where the checkpoint cannot be right, begin at the start, and say so on disk."""
        wrong = {it.log.where: it.dirty.first_dirty_offset for it in found if it.dirty.is_reset}
        if wrong:
            self._note.warning("the cleaner's checkpoint is wrong about %s", list(map(str, wrong)))
            directory.cleaned |= wrong
            await self._write(directory)

    # One cleaning

    def _begin(self, candidate: Candidate) -> None:
        directory, log, _ = candidate
        dirty = self._candidates.measure(directory, log)  # It may have been cut since.
        if dirty is None or not dirty.is_due(log.settings):
            return
        sizes = buffer_sizes(self._settings())
        cleaning = begin_cleaning(log, dirty, self._clock(), *sizes)
        job = Job(directory, log, cleaning, self._take_cleaner(), asyncio.Event())
        self._jobs[log.where] = job
        self._share_rate()
        self._tasks.start(f"cleaning of {log.where}", self._clean(job), may_end=True)

    def _take_cleaner(self) -> Cleaner:
        if self._idle:
            return self._idle.pop()[1]
        disk = self._directories.files.disk
        return CleanerProcess() if isinstance(disk, OsDisk) else CleanerThread(disk)

    def _share_rate(self) -> None:
        """So many bytes a second for each cleaning that is under way."""
        most = self._settings().log_cleaner_io_max_bytes_per_second
        for job in self._jobs.values():
            job.cleaner.set_rate(most / len(self._jobs))

    async def _clean(self, job: Job) -> None:
        is_whole = False
        try:
            with self._upkeep.watched(job.directory):
                await job.cleaner.begin(job.cleaning)
                is_whole = await self._drive(job)
        except NoCleaner as error:
            self._note.error("%s is not cleaned: %s", job.log.where, error)
        except CleanerDied as error:
            self._mark_uncleanable(job.log, str(error))
        finally:
            if not is_whole:
                await job.cleaner.close()
            del self._jobs[job.log.where]
            job.ended.set()
        self._idle.append((asyncio.get_running_loop().time(), job.cleaner))
        self._share_rate()

    async def _drive(self, job: Job) -> bool:
        """Take over what the worker gives, up to its last; True: it can be used again."""
        elapsed = stopwatch()
        begun_s, count = elapsed(), CleaningCount()
        while isinstance(step := await job.cleaner.step(), CleanedGroup):
            retired = swap_in(job.log, job.cleaning, step)
            if retired is None:
                job.cleaner.halt()
            else:
                count.add(step)
                self._upkeep.remove_files_later(retired, job.log.settings.file_delete_delay_ms)
        outcome = end_cleaning(job.log, job.cleaning, step)
        if isinstance(outcome, Seal):
            assert isinstance(step, Finished)
            await self._seal(job, outcome)
            count.end(self.figures, step, job.cleaning.map_bytes, elapsed() - begun_s)
            self._tell(job, outcome, count)
            self._again.set()
        elif isinstance(outcome, Uncleanable):
            self._mark_uncleanable(job.log, outcome.reason)
        else:
            self._note.info("%s is not cleaned: %s", job.log.where, outcome.reason)
        return True

    def _tell(self, job: Job, seal: Seal, count: CleaningCount) -> None:
        self._note.info(
            "%s is clean up to %s: %s of %s records stay, %s of %s bytes, in %.1f s",
            job.log.where,
            seal.end_offset,
            count.records_kept,
            count.records_read,
            count.bytes_written,
            count.bytes_read,
            self.figures.last_s,
        )

    def _mark_uncleanable(self, log: Log, reason: str) -> None:
        self._note.error("%s cannot be cleaned: %s", log.where, reason)
        self.figures.uncleanable[log.where] = log, reason
        self._again.set()

    # Checkpoints

    async def _seal(self, job: Job, seal: Seal) -> None:
        await asyncio.get_running_loop().run_in_executor(None, seal.run)
        async with self._upkeep.turn_of(job.directory):
            checkpoint = job.directory.note_cleaned(job.log.where, seal)
            if checkpoint is not None:
                await self._write_one(job.directory, checkpoint)

    async def _write(self, directory: LogDirectory) -> None:
        with self._upkeep.watched(directory):
            async with self._upkeep.turn_of(directory):
                await self._write_one(directory, directory.checkpoint(checkpoints.CLEANED_OFFSETS))

    async def _write_one(self, directory: LogDirectory, checkpoint: checkpoints.Checkpoint) -> None:
        """One at a time, or an older one could come last."""
        entries = len(directory.cleaned)
        await asyncio.get_running_loop().run_in_executor(None, checkpoint.run)
        self._entries[directory.path] = entries

    async def _close_idle(self, idle_s: float) -> None:
        now_s = asyncio.get_running_loop().time()
        while self._idle and now_s - self._idle[0][0] >= idle_s:
            await self._idle.pop(0)[1].close()


def buffer_sizes(settings: BrokerSettings) -> tuple[int, int]:
    """How many bytes each cleaning has for its map of keys, and for what it reads at once."""
    threads = settings.log_cleaner_threads
    map_bytes = settings.log_cleaner_dedupe_buffer_size / threads
    factor = settings.log_cleaner_io_buffer_load_factor
    return int(map_bytes * factor), max(
        BUFFER_MIN_BYTES, settings.log_cleaner_io_buffer_size // threads
    )
