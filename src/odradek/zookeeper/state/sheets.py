"""Sheets: the nodes in the order of their creation, some hundred to a sheet.

A snapshot of a tree that has hardly changed need not be made anew: a sheet on which nothing has
changed since the last snapshot is copied from there. So every node knows its sheet, and whoever
changes a node says that its sheet is stale.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

SHEET_NODES = 512


class Kept(NamedTuple):
    """Where a sheet stands in a snapshot."""

    path: str  # Of the snapshot's file.
    position: int
    size: int
    checksum: int  # Adler-32 of the sheet alone.


class Sheet:
    """Nodes that were made one after another, those that are gone included until it is tidied."""

    __slots__ = ("gone_count", "is_stale", "kept", "paths")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.gone_count = 0
        self.is_stale = False  # Whether a node has changed since it was last written.
        self.kept: Kept | None = None


class OnSheet(Protocol):
    """A node, as far as it matters here."""

    sheet: Sheet


class Sheets:
    """All sheets of a tree, the oldest first. New nodes go to the last, which is never kept."""

    __slots__ = ("_get", "all", "last")

    def __init__(self, get: Callable[[str], OnSheet | None]) -> None:
        self._get = get
        self.last = Sheet()
        self.all = [self.last]

    def turn(self) -> Sheet:
        """Let what is made from now on stand on another sheet than what is there; return it."""
        self._tidy(self.last)
        if self.last.paths:
            self.last = Sheet()
            self.all.append(self.last)
        return self.last

    def next(self) -> Sheet:
        """The last sheet, which was full: the same if most of it was gone, else a new one."""
        self._tidy(self.last)
        return self.last if 2 * len(self.last.paths) < SHEET_NODES else self.turn()

    def gone(self, sheet: Sheet) -> None:
        """A node of this sheet is no longer there."""
        sheet.is_stale = True
        sheet.gone_count += 1
        if sheet is not self.last and 2 * sheet.gone_count > len(sheet.paths):
            self._tidy(sheet)
            if not sheet.paths:
                self.all.remove(sheet)

    def forget_kept(self) -> None:
        """No snapshot has what was written to it."""
        for sheet in self.all:
            sheet.kept = None

    def _tidy(self, sheet: Sheet) -> None:
        """Leave out the paths that are gone, or were made again and stand on a later sheet."""
        if sheet.gone_count:
            # One that was made again stands where it was made last, hence behind its parent.
            once = list(dict.fromkeys(reversed(sheet.paths)))[::-1]
            found = ((path, self._get(path)) for path in once)
            # A new list: a snapshot may be walking along the old one.
            sheet.paths = [path for path, node in found if node and node.sheet is sheet]
            sheet.gone_count = 0
