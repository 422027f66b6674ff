"""A partition's log: segments, and what is known about them.

    start_offset <= ... <= last_stable_offset <= high_watermark <= end_offset

A log belongs to one thread. It sleeps until it is written to: asleep it has its offsets and a
small object for each segment; awake also a `Tail`. What takes long is handed out, to be run
elsewhere: a `Flush`, a `Later`. After `DiskFull` a log is as it was before; after any other
failure of its disk it must not be used any more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from operator import attrgetter

from odradek.kafka.storage.checkpoints import PARTITION_METADATA
from odradek.kafka.storage.epochs import NAME as EPOCHS
from odradek.kafka.storage.epochs import LeaderEpochs
from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.flush import Flush
from odradek.kafka.storage.lookup import Fetched
from odradek.kafka.storage.names import INDEXES, SEGMENT_FILES, TopicPartition
from odradek.kafka.storage.producers import Producers
from odradek.kafka.storage.replay import load_producers
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.snapshots import snapshot_path, write_snapshot
from odradek.kafka.storage.tail import Tail
from odradek.kafka.storage.view import SegmentView

BASE = attrgetter("base_offset")


class Log:
    """One partition on this broker."""

    __slots__ = (
        "_chance",
        "_epochs",
        "_names_synced",
        "_producers",
        "_tail",
        "cuts_count",
        "directory",
        "end_offset",
        "files",
        "flushed_ms",
        "flushed_offset",
        "high_watermark",
        "names_count",
        "recovery_point",
        "segments",
        "settings",
        "start_offset",
        "swaps_count",
        "where",
    )

    def __init__(
        self,
        files: OpenFiles,
        directory: str,
        where: TopicPartition,
        settings: LogSettings,
        segments: list[Segment],
        *,
        start_offset: int,
        end_offset: int,
        recovery_point: int,
        chance: Callable[[], float],
    ) -> None:
        """`segments` are on disk, oldest first, at least one; `chance` is in [0, 1)."""
        assert segments
        self.files = files
        self.directory = directory
        self.where = where
        self.settings = settings
        self.segments = segments
        self.start_offset = start_offset
        self.end_offset = end_offset
        self.recovery_point = recovery_point
        self.high_watermark = start_offset
        self.flushed_ms = 0
        self.flushed_offset = recovery_point  # Below this all would survive a power cut.
        self._chance = chance
        self._tail: Tail | None = None
        self._epochs: LeaderEpochs | None = None
        self._producers: Producers | None = None
        self.names_count = 0  # How many files were made or renamed...
        self._names_synced = -1  # ...when names were last synced: those of before may not be.
        self.cuts_count = 0  # How often the end went back.
        self.swaps_count = 0  # How often cleaned segments took the place of others.

    @property
    def epochs(self) -> LeaderEpochs:
        if self._epochs is None:
            self._epochs = LeaderEpochs.load(self.files.disk, self.directory)
        return self._epochs

    @property
    def producers(self) -> Producers:
        if self._producers is None:
            disk, views = self.files.disk, self.views(0)
            self._producers = load_producers(disk, self.directory, views, self.end_offset)
            self._producers.apply_high_watermark(self.high_watermark)
        return self._producers

    def know_producers(self, producers: Producers | None) -> None:
        """Take what recovery found, or forget what was known, to read it again when needed."""
        self._producers = producers

    def take_over_from(self, other: Log) -> None:
        """Know all that a log with the same batches knew and no file says."""
        self.restore_high_watermark(other.high_watermark)
        if other._producers is not None:
            self._producers = other._producers

    @property
    def last_stable_offset(self) -> int:
        producers = self.producers if self._producers is None else self._producers
        first_unstable = producers.first_unstable_offset
        if first_unstable is None:
            return self.high_watermark
        return min(first_unstable, self.high_watermark)

    def expire_producers(self, now_ms: int) -> None:
        """Forget silent producers; of a log that sleeps none is in memory."""
        if self._producers is not None:
            self._producers.expire(now_ms, self.settings.producer_expiration_ms)

    def restore_high_watermark(self, offset: int) -> None:
        """Take over a checkpointed one, as far as the log reaches; what ended below is stable."""
        self.high_watermark = min(max(offset, self.start_offset), self.end_offset)
        if self._producers is not None:
            self._producers.apply_high_watermark(self.high_watermark)

    def raise_high_watermark(self, offset: int) -> bool:
        """Whether it has moved: never back, and never past the end."""
        if offset > self.end_offset:
            offset = self.end_offset
        if offset <= self.high_watermark:
            return False
        self.high_watermark = offset
        producers = self._producers
        if producers is not None and producers.ended:
            producers.apply_high_watermark(offset)
        return True

    def roll(self, now_ms: int, base_offset: int | None = None) -> Tail:
        """Finish the active segment and begin a new one, unless it is new itself."""
        old = self._awake(now_ms)
        base_offset = self.end_offset if base_offset is None else base_offset
        if base_offset == old.segment.base_offset:
            return old
        old.finish()
        if self.recovery_point == self.end_offset:
            # No flush will come back to it: once a segment follows, it is taken for safe.
            sync_indexes(self.files, old.segment)
        self.take_snapshot(base_offset)
        segment = Segment(self.directory, base_offset)
        new = self._new_tail(segment, now_ms)
        new.start()
        self.names_count += 1
        self.segments.append(segment)
        self.files.rolled[self.where] = None
        self._tail = new
        old.segment.forget()  # Some may be about to go on at its end.
        return new

    def take_snapshot(self, offset: int | None = None) -> None:
        """Write down what is known of the producers, at the end of the log."""
        self.producers.end_offset = self.end_offset if offset is None else offset
        write_snapshot(self.files.disk, self.directory, self.producers)
        self.names_count += 1

    def tail_for(
        self, size: int, first_offset: int, last_offset: int, max_timestamp: int, now_ms: int
    ) -> Tail:
        """Where a set of batches is to be appended: the active segment, or a new one."""
        tail = self._tail or self._awake(now_ms)
        if tail.has_room_for(self.settings, now_ms, size, last_offset, max_timestamp):
            return tail
        return self.roll(now_ms, first_offset)

    def _awake(self, now_ms: int) -> Tail:
        if self._tail is None:
            # Known now, at the end of the log, where there is a snapshot, and not only at the next
            # roll, when all that was written since would have to be read.
            _ = self.producers
            self.segments[-1].forget()
            tail = self._new_tail(self.segments[-1], now_ms)
            tail.resume()
            self._tail = tail
            self.names_count += 1
        return self._tail

    def _new_tail(self, segment: Segment, now_ms: int) -> Tail:
        settings = self.settings
        jitter_ms = int(self._chance() * min(settings.segment_jitter_ms, settings.segment_ms))
        return Tail(self.files, segment, settings, now_ms, jitter_ms)

    def number_of(self, offset: int) -> int:
        """Which segment an offset is in."""
        if offset >= self.segments[-1].base_offset:
            return len(self.segments) - 1
        return max(0, bisect_right(self.segments, offset, key=BASE) - 1)

    def views(self, number: int) -> list[SegmentView]:
        """The segments from this one on, as they are now."""
        return [self.view(each) for each in range(number, len(self.segments))]

    @property
    def active_timestamp(self) -> int | None:
        """The largest in the active segment; None: its time index says it."""
        return None if self._tail is None else self._tail.max_timestamp

    def latest(self, offset: int, bytes_max: int) -> Fetched | None:
        """All from an offset on, if that is what was appended last and is kept in memory."""
        tail = self._tail
        kept = None if tail is None else tail.latest.kept
        if tail is None or kept is None or kept.offset != offset or len(kept.data) > bytes_max:
            return None
        return Fetched(kept.data, self.end_offset, (), tail.segment, tail.size)

    def await_next(self) -> None:
        """Somebody has read all, and will come for what follows."""
        if self._tail is not None:
            self._tail.latest.await_next()

    def bare_view(self, number: int) -> SegmentView:
        """For one who knows the position, and needs no index."""
        if self._tail is None or number < len(self.segments) - 1:
            return self.view(number)
        return SegmentView(self.segments[-1], self.end_offset, self._tail.size)

    def view(self, number: int) -> SegmentView:
        if number < len(self.segments) - 1:
            return SegmentView(self.segments[number], self.segments[number + 1].base_offset)
        if self._tail is None:
            return SegmentView(self.segments[-1], self.end_offset)
        return self._tail.view(self.end_offset)

    def size(self) -> int:
        """All bytes of all batches."""
        active = self._tail.size if self._tail is not None else None
        finished = self.segments if active is None else self.segments[:-1]
        return sum(segment.size(self.files) for segment in finished) + (active or 0)

    @property
    def unflushed_messages(self) -> int:
        return self.end_offset - self.recovery_point

    @property
    def promised_offset(self) -> int:
        """The end, or what of it is flushed, where flush.messages asks for a flush."""
        if self.end_offset - self.flushed_offset < self.settings.flush_messages:
            return self.end_offset
        return self.flushed_offset

    def is_flush_due(self, now_ms: int) -> bool:
        """Whether flush.messages or flush.ms ask for it."""
        unflushed = self.end_offset - self.recovery_point
        if not unflushed:
            return False
        is_late = now_ms - self.flushed_ms >= self.settings.flush_ms
        return is_late or unflushed >= self.settings.flush_messages

    def begin_flush(self, *, is_final: bool = False) -> Flush:
        """What must be done, elsewhere, to make all appends so far safe.

        The final one syncs the active segment's indexes too, for nobody will rebuild them.
        """
        segments = self.segments[self.number_of(self.recovery_point) :]
        paths = [segment.path for segment in segments]
        for segment in segments if is_final else segments[:-1]:
            paths += [segment.file(kind) for kind in INDEXES]
        ends = [segment.base_offset for segment in segments[1:]]
        ends += [self.end_offset] if is_final else []
        paths += [snapshot_path(self.directory, offset) for offset in ends]
        paths += [f"{self.directory}/{name}" for name in (EPOCHS, PARTITION_METADATA)]
        has_new_names = self.names_count != self._names_synced
        return Flush(
            self.files.disk,
            self.directory,
            tuple(paths),
            self.end_offset,
            None if is_final else self.segments[-1].base_offset,
            self.names_count,
            self.cuts_count,
            has_new_names,
        )

    def end_flush(self, flush: Flush, now_ms: int) -> None:
        """It was done. If the log was cut meanwhile, nothing is known of what has grown since.

        Nor may the recovery point leave a segment that was active then: its indexes are not safe.
        """
        if flush.cuts_count != self.cuts_count:
            return
        self._names_synced = flush.names_count
        self.flushed_ms = now_ms
        self.flushed_offset = max(self.flushed_offset, flush.end_offset)
        segment = self.segments[self.number_of(flush.end_offset)]
        if flush.active_base is None or flush.active_base == segment.base_offset:
            self.recovery_point = max(self.recovery_point, flush.end_offset)

    def flush(self, now_ms: int, *, is_final: bool = False) -> None:
        """All of it, here and now."""
        flush = self.begin_flush(is_final=is_final)
        flush.run()
        self.end_flush(flush, now_ms)

    def sleep(self) -> None:
        """Finish the files; the next append will wake it."""
        if self._tail is not None:
            self._tail.finish()
            self._tail = None

    def close(self, now_ms: int) -> None:
        """Leave everything whole and safe, such that nothing need be recovered."""
        if self._tail is not None or self.recovery_point < self.end_offset:
            self.sleep()
            self.take_snapshot()
            self.flush(now_ms, is_final=True)
        self.close_files()

    def close_files(self) -> None:
        for segment in self.segments:
            for kind in SEGMENT_FILES:
                self.files.close(segment.file(kind))


def sync_indexes(files: OpenFiles, segment: Segment) -> None:
    """Make the indexes of a segment as safe as its batches."""
    for path in (segment.file(kind) for kind in INDEXES):
        if files.disk.exists(path):
            files.get(path).sync()
