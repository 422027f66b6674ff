"""A flush: what was appended so far becomes safe, in another thread, while appends go on.

The indexes of the active segment are rebuilt after a crash, so their sync would promise nothing.
A finished segment is not looked at again once the recovery point is past it: its indexes, and
the snapshot at its end, are synced with it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from os.path import dirname

from odradek.runtime.disk import Disk


@dataclass(frozen=True, slots=True)
class Flush:
    """Made and finished by the log, and run in whatever thread, with handles of its own."""

    disk: Disk
    directory: str
    paths: tuple[str, ...]
    end_offset: int
    active_base: int | None  # The segment that was active; None: its indexes are synced too.
    names_count: int  # How many names the log had given when this began.
    cuts_count: int  # How often it had been cut.
    has_new_names: bool

    def run(self) -> None:
        """Return once all that was appended would survive a power cut."""
        for path in self.paths:
            self._sync(path)
        if self.has_new_names:
            self._sync_names()
            self.disk.sync_directory(dirname(self.directory))

    def _sync(self, path: str) -> None:
        try:
            with self.disk.open(path) as file:
                file.sync()
        except FileNotFoundError:
            pass  # Not every segment has every file, and retention may have been here.

    def _sync_names(self) -> None:
        # It may be gone: a partition that was deleted meanwhile is no failure of its disk.
        with suppress(FileNotFoundError):
            self.disk.sync_directory(self.directory)
