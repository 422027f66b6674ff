"""Which leader epoch began at which offset.

Epochs and their start offsets both ascend. Followers compare theirs with the leader's to learn
where their logs part; so whatever the log loses, at either end, this must lose too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from odradek.kafka.storage.checkpoints import read_checkpoint, write_checkpoint
from odradek.kafka.storage.errors import CorruptCheckpoint
from odradek.runtime.disk import Disk

NAME = "leader-epoch-checkpoint"
UNKNOWN = -1


class EpochStart(NamedTuple):
    """The first offset of a leader's epoch."""

    epoch: int
    start_offset: int


class EpochEnd(NamedTuple):
    """The offset behind the last of an epoch, which may be older than the one asked for."""

    epoch: int
    end_offset: int


class LeaderEpochs:
    """The epochs of one partition, oldest first. Each change is in the file before it is here.

    The file is synced with the next flush of the log: until then, recovery reads the batches that
    it would tell of, and a thousand new leaders need not wait for a thousand syncs.
    """

    __slots__ = ("_disk", "_is_held_back", "_path", "_starts")

    def __init__(self, disk: Disk, path: str, starts: list[EpochStart]) -> None:
        self._disk = disk
        self._path = path
        self._starts = starts
        self._is_held_back = False

    @classmethod
    def load(cls, disk: Disk, directory: str) -> LeaderEpochs:
        path = f"{directory}/{NAME}"
        try:
            rows = [
                EpochStart(int(epoch), int(start)) for epoch, start in read_checkpoint(disk, path)
            ]
        except ValueError as error:
            raise CorruptCheckpoint(path, f"no epoch and offset: {error}") from error
        return cls(disk, path, rows)

    @property
    def starts(self) -> tuple[EpochStart, ...]:
        return tuple(self._starts)

    @property
    def latest(self) -> int:
        return self._starts[-1].epoch if self._starts else UNKNOWN

    def assign(self, epoch: int, start_offset: int) -> None:
        """Let an epoch begin, unless it has; entries that it contradicts go."""
        if epoch == self.latest and start_offset >= self._starts[-1].start_offset:
            return
        kept = [e for e in self._starts if e.epoch < epoch and e.start_offset < start_offset]
        self._replace([*kept, EpochStart(epoch, start_offset)])

    def end_of(self, epoch: int, log_end_offset: int) -> EpochEnd:
        """Where an epoch ended: (-1, -1) if it is later than all that are known."""
        if not self._starts or epoch > self.latest or epoch < 0:
            return EpochEnd(UNKNOWN, UNKNOWN)
        if epoch == self.latest:
            return EpochEnd(epoch, log_end_offset)
        later = bisect_right(self._starts, epoch, key=lambda entry: entry.epoch)
        known = self._starts[later - 1].epoch if later else epoch
        return EpochEnd(known, self._starts[later].start_offset)

    def epoch_at(self, offset: int) -> int:
        """The epoch in which this offset was written; -1 if nobody knows."""
        count = bisect_right(self._starts, offset, key=lambda entry: entry.start_offset)
        return self._starts[count - 1].epoch if count else UNKNOWN

    def truncate_from(self, end_offset: int) -> None:
        """The log now ends here."""
        kept = [entry for entry in self._starts if entry.start_offset < end_offset]
        if len(kept) < len(self._starts):
            self._replace(kept)

    def truncate_before(self, start_offset: int) -> None:
        """The log now starts here, in the epoch that it was in."""
        count = bisect_right(self._starts, start_offset, key=lambda entry: entry.start_offset)
        if not count:
            return
        starts = [EpochStart(self._starts[count - 1].epoch, start_offset), *self._starts[count:]]
        if starts != self._starts:
            self._replace(starts)

    def clear(self) -> None:
        if self._starts:
            self._replace([])

    @contextmanager
    def written_once(self) -> Iterator[None]:
        """Write what has changed when all is done, if anything has."""
        before, self._is_held_back = self._starts, True
        try:
            yield
        finally:
            self._is_held_back = False
        if self._starts != before:
            self._replace(self._starts)

    def _replace(self, starts: list[EpochStart]) -> None:
        if not self._is_held_back:
            lines = (f"{entry.epoch} {entry.start_offset}" for entry in starts)
            write_checkpoint(self._disk, self._path, lines, is_synced=False)
        self._starts = starts
