"""One log directory: it is owned, read and written by itself.

A partition that is to go, or comes from another directory, stands here under a name of its own.
What the checkpoints say is written for all logs at once, and read at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from odradek.kafka.storage import checkpoints
from odradek.kafka.storage.checkpoints import Checkpoint, Meta
from odradek.kafka.storage.errors import InconsistentDirectory
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import (
    Purpose,
    TopicPartition,
    directory_name,
    read_directory_name,
)
from odradek.kafka.storage.recover import Checkpointed, begin, recover
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.swap import Seal
from odradek.kafka.storage.truncation import restart_at, truncate_to
from odradek.runtime.disk import DirectoryLock
from odradek.runtime.durable import make_durable_directories

SettingsOf = Callable[[str], LogSettings]
Chance = Callable[[], float]
CHECKPOINTS = checkpoints.RECOVERY_POINTS, checkpoints.START_OFFSETS, checkpoints.HIGH_WATERMARKS


@dataclass(slots=True)
class LogDirectory:
    """One directory with its logs."""

    path: str
    files: OpenFiles
    lock: DirectoryLock
    meta: Meta | None
    was_clean: bool
    logs: dict[TopicPartition, Log] = field(default_factory=dict)
    futures: dict[TopicPartition, Log] = field(default_factory=dict)
    doomed: list[str] = field(default_factory=list)  # Directories to be removed after a while.
    cleaned: dict[TopicPartition, int] = field(default_factory=dict)  # Up to where each is clean.

    @classmethod
    def open(cls, files: OpenFiles, path: str) -> LogDirectory:
        """Own a directory, made if need be; `load` it then."""
        disk = files.disk
        make_durable_directories(disk, path)
        lock = disk.lock_directory(path)
        try:
            meta = checkpoints.read_meta(disk, path)
            was_clean = checkpoints.take_clean_shutdown(disk, path)
        except BaseException:
            lock.release()
            raise
        return cls(path, files, lock, meta, was_clean)

    def load(self, settings_of: SettingsOf, chance: Chance) -> Iterator[list[str]]:
        """Open the logs one by one; each gives notes of what had to be done."""
        known = self._checkpointed()
        path = f"{self.path}/{checkpoints.CLEANED_OFFSETS}"
        self.cleaned = checkpoints.read_offsets(self.files.disk, path)
        for name in self.files.disk.list_directory(self.path):
            directory = f"{self.path}/{name}"
            found = read_directory_name(name)
            if found is None or not self.files.disk.is_directory(directory):
                continue
            where, purpose = found
            if purpose is Purpose.DELETE:
                self.doomed.append(directory)
            elif purpose is not Purpose.STRAY:
                settings = settings_of(where.topic)
                recovered = recover(self.files, directory, where, settings, known(where), chance)
                if other := self.of(purpose).get(where):
                    self.doomed.append(other.directory)  # One that was given up for another.
                self.of(purpose)[where] = recovered.log
                yield recovered.notes

    def claim(self, meta: Meta) -> None:
        """Say whose directory this is, or find that it is another's."""
        if self.meta is None or self.meta == (meta.broker_id, ""):
            checkpoints.write_meta(self.files.disk, self.path, meta)
            self.meta = meta
        elif self.meta != meta:
            reason = f"belongs to broker {self.meta.broker_id} of cluster {self.meta.cluster_id}"
            raise InconsistentDirectory(self.path, reason)

    def create(
        self,
        where: TopicPartition,
        settings: LogSettings,
        topic_id: str | None,
        chance: Chance,
        purpose: Purpose = Purpose.LIVE,
        unique: str = "",
    ) -> Log:
        """Begin a partition that was not here before."""
        directory = f"{self.path}/{directory_name(where, purpose, unique)}"
        is_new = not self.files.disk.is_directory(directory)
        self.files.disk.make_directories(directory)
        if topic_id is not None:
            checkpoints.write_topic_id(self.files.disk, directory, topic_id)
        if is_new:
            log = begin(self.files, directory, where, settings, chance)
        else:
            log = recover(self.files, directory, where, settings, chance=chance).log
        self.of(purpose)[where] = log
        return log

    def promote(self, where: TopicPartition, chance: Chance, now_ms: int) -> Log:
        """Let a replica that has come from elsewhere take its partition's plain name.

        All of it, and its name, would survive a loss of power: the one that it replaces may go.
        """
        future = self.futures[where]
        future.close(now_ms)
        directory = f"{self.path}/{where}"
        if self.files.disk.exists(directory):  # It was here once, and could not be renamed.
            name = directory_name(where, Purpose.DELETE, unique_name(chance))
            self.files.disk.rename(directory, f"{self.path}/{name}")
        self.files.disk.rename(future.directory, directory)
        del self.futures[where]
        self.files.disk.sync_directory(self.path)
        start_offset, high_watermark = future.start_offset, future.high_watermark
        known = Checkpointed(True, future.recovery_point, start_offset, high_watermark)
        log = recover(self.files, directory, where, future.settings, known, chance).log
        self.logs[where] = log
        return log

    def retire(
        self,
        where: TopicPartition,
        purpose: Purpose,
        unique: str,
        kind: Purpose = Purpose.LIVE,
    ) -> str:
        """Take a partition out, under a name for deletion or for strays; return its new path.

        It is out for good once the directory is synced, which is done for many at once. `kind`
        says whether it is the replica itself or the one that was to replace it.
        """
        log = self.of(kind).pop(where)
        if kind is Purpose.LIVE:
            self.cleaned.pop(where, None)
        log.cuts_count += 1  # What is under way for it elsewhere must not touch its successor.
        log.close_files()
        path = f"{self.path}/{directory_name(where, purpose, unique)}"
        self.files.disk.rename(log.directory, path)
        return path

    def sync_names(self) -> None:
        """Return once what came, went or was renamed here would survive a loss of power."""
        self.files.disk.sync_directory(self.path)

    def truncate(self, cuts: Mapping[TopicPartition, int]) -> None:
        """Cut some logs at an offset each, and first the recovery points that are written down."""
        self._lower_recovery_points(cuts)
        for where, offset in cuts.items():
            truncate_to(self.logs[where], offset)
        self._lower_cleaned(cuts)

    def truncate_future(self, where: TopicPartition, offset: int) -> None:
        self._lower_recovery_points({where: offset})
        truncate_to(self.futures[where], offset)

    def restart(self, where: TopicPartition, offset: int) -> None:
        """Empty a log, and let it begin at an offset."""
        self._lower_recovery_points({where: min(offset, self.logs[where].start_offset)})
        restart_at(self.logs[where], offset)
        self._lower_cleaned([where])

    def restart_future(self, where: TopicPartition, offset: int) -> None:
        self._lower_recovery_points({where: min(offset, self.futures[where].start_offset)})
        restart_at(self.futures[where], offset)

    def checkpoint(self, name: str) -> Checkpoint:
        """What a checkpoint should say now; `run` it in another thread.

        A partition is here as itself or as what will replace it, never as both.
        """
        logs = (self.futures | self.logs).items()
        if name == checkpoints.RECOVERY_POINTS:
            offsets = {where: log.recovery_point for where, log in logs}
        elif name == checkpoints.HIGH_WATERMARKS:
            offsets = {where: log.high_watermark for where, log in logs}
        elif name == checkpoints.CLEANED_OFFSETS:
            offsets = {
                where: offset for where, offset in self.cleaned.items() if where in self.logs
            }
        else:
            # The names of files tell those of logs that do not begin inside a segment.
            starts = ((where, log.start_offset, log.segments[0].base_offset) for where, log in logs)
            offsets = {where: start for where, start, base in starts if start > base}
        return Checkpoint(self.files.disk, f"{self.path}/{name}", offsets)

    def note_cleaned(self, where: TopicPartition, seal: Seal) -> Checkpoint | None:
        """A log is clean up to an offset, as was made safe; `run` the checkpoint elsewhere."""
        log = self.logs.get(where)
        if log is None or log.cuts_count != seal.cuts_count:
            return None
        self.cleaned[where] = seal.end_offset
        return self.checkpoint(checkpoints.CLEANED_OFFSETS)

    def close(self, now_ms: int) -> None:
        """Stop cleanly: whole logs, checkpoints, and the file that says so."""
        for log in (*self.logs.values(), *self.futures.values()):
            log.close(now_ms)
        for name in CHECKPOINTS:
            self.checkpoint(name).run()
        checkpoints.write_clean_shutdown(self.files.disk, self.path)
        self.lock.release()

    def abandon(self) -> list[TopicPartition]:
        """Go offline; return the partitions that go with it."""
        lost = list(self.logs)
        for log in (*self.logs.values(), *self.futures.values()):
            log.cuts_count += 1
            log.close_files()
        self.logs.clear()
        self.futures.clear()
        return lost

    def of(self, purpose: Purpose) -> dict[TopicPartition, Log]:
        """The replicas, or those that will take the place of others'."""
        return self.logs if purpose is Purpose.LIVE else self.futures

    def _lower_recovery_points(self, cuts: Mapping[TopicPartition, int]) -> None:
        """What is on disk is never higher than what is here, so most cuts need no writing."""
        logs = self.futures | self.logs if self.futures else self.logs
        lowered = [where for where in cuts if logs[where].recovery_point > cuts[where]]
        for where in lowered:
            logs[where].recovery_point = cuts[where]
        if lowered:
            self.checkpoint(checkpoints.RECOVERY_POINTS).run()

    def _lower_cleaned(self, cut: Iterable[TopicPartition]) -> None:
        """What a log will hold in the place of what it has lost is dirty, and must be called so."""
        bases = {where: self.logs[where].segments[-1].base_offset for where in cut}
        lowered = {w: base for w, base in bases.items() if self.cleaned.get(w, base) > base}
        self.cleaned |= lowered
        if lowered:
            self.checkpoint(checkpoints.CLEANED_OFFSETS).run()

    def _checkpointed(self) -> Callable[[TopicPartition], Checkpointed]:
        points, starts, watermarks = (
            checkpoints.read_offsets(self.files.disk, f"{self.path}/{name}") for name in CHECKPOINTS
        )
        return lambda where: Checkpointed(
            self.was_clean, points.get(where, 0), starts.get(where, 0), watermarks.get(where, 0)
        )


def unique_name(chance: Chance) -> str:
    """What tells one directory of a partition from another, in hexadecimal digits."""
    return "".join(f"{int(chance() * 2**32):08x}" for _ in range(4))
