"""A segment: a file of batches, and the indexes beside it.

What is known of a segment that nobody writes to is found out when somebody asks: an idle
partition costs a few small objects and no open file.
"""

from __future__ import annotations

from odradek.kafka.storage.files import OpenFiles
from odradek.kafka.storage.names import LOG, SEGMENT_FILES, TRANSACTION_INDEX, offset_name
from odradek.runtime.disk import Disk

HINTS_MAX = 8


class Segment:
    """The batches from `base_offset` on, up to the next segment's."""

    __slots__ = (
        "_has_aborted",
        "_hints",
        "_size",
        "_stem",
        "base_offset",
        "max_timestamp",
        "path",
    )

    def __init__(self, directory: str, base_offset: int) -> None:
        self.base_offset = base_offset
        self._stem = f"{directory}/{offset_name(base_offset, '')}"
        self.path = self._stem + LOG
        self.max_timestamp: int | None = None  # Of a finished one, once somebody has looked.
        self._size: int | None = None
        self._hints: dict[int, int] | None = None
        self._has_aborted: bool | None = None

    def __repr__(self) -> str:
        return f"Segment({self.path!r})"

    def size(self, files: OpenFiles) -> int:
        """How many bytes its file has, if it is finished; looked up once."""
        if self._size is None:
            self._size = files.get(self.path).size()
        return self._size

    def has_aborted(self, disk: Disk) -> bool:
        """Whether there is a list of aborted transactions; looked up once, by the log's thread."""
        if self._has_aborted is None:
            self._has_aborted = disk.exists(self.file(TRANSACTION_INDEX))
        return self._has_aborted

    def file(self, kind: str) -> str:
        """The path of one of its files."""
        return self._stem + kind

    def existing_files(self, disk: Disk) -> list[str]:
        paths = [self.file(kind) for kind in SEGMENT_FILES]
        return [path for path in paths if disk.exists(path)]

    def note_aborted(self) -> None:
        """There is such a list from now on."""
        self._has_aborted = True

    def remember(self, offset: int, position: int) -> None:
        """Readers go on where they stopped: spare them the search."""
        if self._hints is None or len(self._hints) >= HINTS_MAX:
            self._hints = {}
        self._hints[offset] = position

    def remembered(self, offset: int) -> int | None:
        return None if self._hints is None else self._hints.get(offset)

    def forget(self) -> None:
        """What was known may be wrong now."""
        self._hints = self._size = self.max_timestamp = self._has_aborted = None
