"""Open files, so many and no more.

A broker may have a hundred thousand files and may keep some thousands open. Whoever wants one
asks for it each time; the one that was asked for longest ago is closed for the next. All of this
belongs to the thread of the loop: work in other threads opens what it needs for itself, so that
nothing is closed under it.

Logs that have finished a segment say so here, because the cleaner looks at no others.
"""

from __future__ import annotations

from collections import OrderedDict

from odradek.kafka.storage.latest import AllLatest
from odradek.kafka.storage.names import TopicPartition
from odradek.runtime.disk import Disk, File
from odradek.runtime.rooms import Rooms

OPEN_MAX = 2048


class OpenFiles:
    """Handles by path, the most recently used last."""

    def __init__(self, disk: Disk, count_max: int = OPEN_MAX) -> None:
        self.disk = disk
        self.rolled: dict[TopicPartition, None] = {}  # Since somebody last took them out.
        self.latest = AllLatest()
        self.rooms = Rooms()  # For what is read in large pieces.
        self._count_max = count_max
        self._files: OrderedDict[str, File] = OrderedDict()

    def __len__(self) -> int:
        return len(self._files)

    def get(self, path: str, *, create: bool = False) -> File:
        """The file, opened if it is not. It may be closed at the next `get`."""
        file = self._files.get(path)
        if file is not None:
            self._files.move_to_end(path)
            return file
        file = self.disk.open(path, create=create)
        while len(self._files) >= self._count_max:
            self._files.popitem(last=False)[1].close()
        self._files[path] = file
        return file

    def close(self, path: str) -> None:
        """Forget a file, which may then be renamed or removed."""
        file = self._files.pop(path, None)
        if file is not None:
            file.close()
