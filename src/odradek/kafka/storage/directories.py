"""The log directories of a broker: which are usable, and what goes where.

One that fails takes its own partitions offline and nothing else; the broker goes on while one is
left. A new partition goes where there are fewest.
"""

from __future__ import annotations

from collections.abc import Iterator

from odradek.kafka.storage.directory import Chance, LogDirectory, SettingsOf
from odradek.kafka.storage.errors import StorageError
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.log import Log
from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.disk import DirectoryLocked, DiskError


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
            except (DiskError, StorageError, OSError) as error:
                self.offline[path] = error

    def load(self) -> Iterator[list[str]]:
        """Open all logs, one a step: the caller may tell how far it is, and the notes."""
        for directory in list(self.online):
            try:
                yield from directory.load(self._settings_of, self._chance)
            except (DiskError, StorageError, OSError) as error:
                self.fail(directory, error)
                yield [f"{directory.path} is offline: {error}"]

    def find(self, where: TopicPartition) -> Log | None:
        for directory in self.online:
            if log := directory.logs.get(where):
                return log
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
            except (DiskError, StorageError, OSError) as error:
                self.fail(directory, error)

    def release(self) -> None:
        for directory in self.online:
            directory.lock.release()
        self.online.clear()
