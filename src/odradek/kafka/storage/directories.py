"""The log directories of a broker: which are usable, and what goes where.

One that fails takes its own partitions offline and nothing else; the broker goes on while one is
left. A new partition goes where there are fewest.

A replica that was moved takes its plain name before the old one loses it, and a crash may come in
between. Nothing is written to either meanwhile: so of two that are found, the one whose history
goes further is whole, and the other goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from odradek.kafka.storage.directory import Chance, LogDirectory, SettingsOf, unique_name
from odradek.kafka.storage.errors import DISK_TROUBLE
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import Purpose, TopicPartition
from odradek.runtime.disk import DirectoryLocked


class LogDirectories:
    """All log directories of a broker."""

    def __init__(self, files: OpenFiles, settings_of: SettingsOf, chance: Chance) -> None:
        self.files = files
        self.online: list[LogDirectory] = []
        self.offline: dict[str, Exception] = {}
        self._settings_of = settings_of
        self._chance = chance

    def open(self, paths: list[str]) -> None:
        """Own the directories; what cannot be read is offline from the start."""
        for path in paths:
            try:
                self.online.append(LogDirectory.open(self.files, path))
            except DirectoryLocked:
                self.release()
                raise
            except DISK_TROUBLE as error:
                self.offline[path] = error

    def load(self) -> Iterator[list[str]]:
        """Open all logs, one a step: the caller may tell how far it is, and the notes."""
        for directory in list(self.online):
            try:
                yield from directory.load(self._settings_of, self._chance)
            except DISK_TROUBLE as error:
                self.fail(directory, error)
                yield [f"{directory.path} is offline: {error}"]
        notes = [*self._drop_doubles(Purpose.LIVE), *self._drop_doubles(Purpose.FUTURE)]
        notes += self._drop_arrived()
        if notes:
            yield notes

    def _drop_arrived(self) -> list[str]:
        """What was to come to a directory where the replica is by now need not come."""
        return [
            self._drop(directory, where, Purpose.FUTURE)
            for directory in list(self.online)
            for where in list(directory.futures)
            if where in directory.logs
        ]

    def _drop_doubles(self, kind: Purpose) -> list[str]:
        """Have each replica once; what was done to that end."""
        kept: dict[TopicPartition, LogDirectory] = {}
        notes: list[str] = []
        for directory in list(self.online):
            for where in list(directory.of(kind)):
                rival = kept.setdefault(where, directory)
                if rival is directory:
                    continue
                loser, kept[where] = sorted((rival, directory), key=_history_of(where, kind))
                notes.append(self._drop(loser, where, kind))
        return notes

    def _drop(self, directory: LogDirectory, where: TopicPartition, kind: Purpose) -> str:
        try:
            path = directory.retire(where, Purpose.DELETE, unique_name(self._chance), kind)
            directory.sync_names()
        except DISK_TROUBLE as error:
            self.fail(directory, error)
            return f"{directory.path} is offline: {error}"
        directory.doomed.append(path)
        return f"{where} is in another directory too: {path} goes"

    def find(self, where: TopicPartition) -> Log | None:
        for directory in self.online:
            if log := directory.logs.get(where):
                return log
        return None

    def find_future(self, where: TopicPartition) -> tuple[LogDirectory, Log] | None:
        """The replica that will take the place of the one that `find` finds."""
        for directory in self.online:
            if log := directory.futures.get(where):
                return directory, log
        return None

    def directory_of(self, log: Log) -> LogDirectory:
        return next(each for each in self.online if each.logs.get(log.where) is log)

    def emptiest(self) -> LogDirectory:
        """The directory that has the fewest partitions."""
        return min(self.online, key=lambda each: len(each.logs) + len(each.futures))

    def create(
        self, where: TopicPartition, topic_id: str | None, directory: LogDirectory | None = None
    ) -> Log:
        """Begin a partition, where there are fewest unless a directory is named."""
        directory = directory or self.emptiest()
        return directory.create(where, self._settings_of(where.topic), topic_id, self._chance)

    def fail(self, directory: LogDirectory, error: Exception) -> list[TopicPartition]:
        """A directory's disk failed: its partitions are offline, the others are not."""
        self.online.remove(directory)
        self.offline[directory.path] = error
        return directory.abandon()

    def close(self, now_ms: int) -> None:
        """Stop cleanly, each directory for itself."""
        for directory in list(self.online):
            try:
                directory.close(now_ms)
            except DISK_TROUBLE as error:
                self.fail(directory, error)

    def release(self) -> None:
        for directory in self.online:
            directory.lock.release()
        self.online.clear()


def _history_of(where: TopicPartition, kind: Purpose) -> Callable[[LogDirectory], tuple[int, int]]:
    def history(directory: LogDirectory) -> tuple[int, int]:
        log = directory.of(kind)[where]
        return log.epochs.latest, log.end_offset

    return history
