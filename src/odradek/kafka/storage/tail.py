"""The end of a log, where it is written: the active segment and its growing indexes.

An entry is due once more than `index.interval.bytes` were appended since the last one, not
counting the append that brings it. It says where the appended set starts and which offset it
ends with.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.heads import NO_TIMESTAMP, walk_heads
from odradek.kafka.storage.index import OFFSET_ENTRY, TIME_ENTRY, GrowingIndex
from odradek.kafka.storage.latest import Latest
from odradek.kafka.storage.names import OFFSET_INDEX, TIME_INDEX
from odradek.kafka.storage.segment import Segment
from odradek.kafka.storage.settings import LogSettings
from odradek.kafka.storage.source import WarmSource
from odradek.kafka.storage.view import SegmentView
from odradek.runtime.disk import Buffer

RELATIVE_OFFSET_MAX = 2**31 - 1


class Tail:
    """The active segment of a log."""

    __slots__ = (
        "_bytes_max",
        "_bytes_since_entry",
        "_files",
        "_first_timestamp",
        "_is_preallocated",
        "_jitter_ms",
        "_max_timestamp_offset",
        "created_ms",
        "latest",
        "max_timestamp",
        "offsets",
        "segment",
        "size",
        "times",
    )

    def __init__(
        self,
        files: OpenFiles,
        segment: Segment,
        settings: LogSettings,
        now_ms: int,
        jitter_ms: int = 0,
    ) -> None:
        self.segment = segment
        self.size = 0
        self.created_ms = now_ms
        self.max_timestamp = NO_TIMESTAMP
        self.latest = Latest(files.latest)
        self.offsets = GrowingIndex(
            files, segment.file(OFFSET_INDEX), OFFSET_ENTRY, settings.segment_index_bytes
        )
        self.times = GrowingIndex(
            files, segment.file(TIME_INDEX), TIME_ENTRY, settings.segment_index_bytes
        )
        self._max_timestamp_offset = segment.base_offset
        self._first_timestamp = NO_TIMESTAMP
        self._bytes_since_entry = 0
        self._jitter_ms = jitter_ms
        self._files = files
        self._bytes_max = settings.segment_bytes if settings.is_preallocated else 0
        self._is_preallocated = False

    def start(self) -> None:
        """Have empty files; that of the batches may have all the room that it will ever need."""
        file = self._files.get(self.segment.path, create=True)
        file.truncate(0)
        if self._bytes_max:
            file.preallocate(self._bytes_max)
            self._is_preallocated = True
        self.offsets.start()
        self.times.start()

    def resume(self) -> None:
        """Go on with files that were finished, or recovered, before."""
        source = WaitingSource(self._files)
        view = SegmentView(self.segment, 0)
        self.size = view.size(source)
        offsets, times = view.offsets(source), view.times(source)
        last_offset, last_time = offsets.last(source), times.last(source)
        self.offsets.resume(offsets.entry_count, last_offset)
        self.times.resume(times.entry_count, last_time)
        if last_time is not None:
            self.max_timestamp = last_time[0]
            self._max_timestamp_offset = self.segment.base_offset + last_time[1]
        first = next(walk_heads(source, view.path, 0, self.size), None)
        if first is not None:
            self._first_timestamp = first.max_timestamp
        for head in walk_heads(source, view.path, last_offset[1] if last_offset else 0, self.size):
            self._note_time(head.max_timestamp, head.last_offset)

    def has_room_for(
        self, settings: LogSettings, now_ms: int, size: int, last_offset: int, max_timestamp: int
    ) -> bool:
        """Whether a set of batches belongs into this segment, and not into a new one."""
        if (
            self.size > settings.segment_bytes - size
            or self.offsets.count >= self.offsets.count_max
        ):
            return False
        if self.times.count >= self.times.count_max - 1:  # The last place is for the last entry.
            return False
        if last_offset - self.segment.base_offset > RELATIVE_OFFSET_MAX:
            return False
        if not self.size:
            return True
        first = self._first_timestamp
        waited_ms = max_timestamp - first if first >= 0 else now_ms - self.created_ms
        return waited_ms <= settings.roll_ms - self._jitter_ms

    def append(
        self,
        buffers: tuple[Buffer, ...],
        last_offset: int,
        max_timestamp: int,
        max_timestamp_offset: int,
        interval_bytes: int,
    ) -> int:
        """Write a set of batches; return how many bytes it has."""
        size = sum(map(len, buffers))
        self.writing(buffers)()
        self.written(size, last_offset, max_timestamp, max_timestamp_offset, interval_bytes)
        return size

    def writing(self, buffers: tuple[Buffer, ...]) -> Callable[[], None]:
        """The write itself, to be done by any thread while nothing else is done with this log."""
        file = self._files.get(self.segment.path)
        if self._is_preallocated:
            data = buffers[0] if len(buffers) == 1 else b"".join(buffers)
            return partial(file.write, self.size, data)
        return partial(file.extend, self.size, *buffers)

    def written(
        self,
        size: int,
        last_offset: int,
        max_timestamp: int,
        max_timestamp_offset: int,
        interval_bytes: int,
    ) -> None:
        """So many bytes are at the end now."""
        position = self.size
        self.size += size
        if not position:
            self._first_timestamp = max_timestamp
        self._note_time(max_timestamp, max_timestamp_offset)
        if self._bytes_since_entry > interval_bytes:
            self.offsets.append(last_offset - self.segment.base_offset, position)
            self._add_time()
            self._bytes_since_entry = 0
        self._bytes_since_entry += size

    def finish(self) -> None:
        """Leave files that are as long as what they hold, the largest timestamp included."""
        self.latest.drop()
        if self._is_preallocated:
            self._files.get(self.segment.path).truncate(self.size)
            self._is_preallocated = False
        self._add_time()
        self.offsets.trim()
        self.times.trim()

    def view(self, end_offset: int) -> SegmentView:
        offsets, times = self.offsets.stored(), self.times.stored()
        return SegmentView(self.segment, end_offset, self.size, offsets, times)

    def _note_time(self, timestamp: int, offset: int) -> None:
        if timestamp > self.max_timestamp:
            self.max_timestamp, self._max_timestamp_offset = timestamp, offset

    def _add_time(self) -> None:
        if self.max_timestamp > (self.times.last[0] if self.times.last else NO_TIMESTAMP):
            relative = self._max_timestamp_offset - self.segment.base_offset
            self.times.append(self.max_timestamp, relative)


class WaitingSource(WarmSource):
    """The loop's own handles, waiting where need be: for the few bytes that writing needs."""

    def read(self, path: str, position: int, count: int) -> bytes:
        return self._files.get(path).pread(position, count)
