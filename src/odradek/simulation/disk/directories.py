"""Names as a device keeps them: a tree, and which of its changes are really on the platter.

A directory's changes survive a loss of power in the order in which they were made: up to some
point, and none after it. A rename is one change in two directories, and happens in both or in
neither. Different directories know nothing of each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from odradek.simulation.disk.inodes import Inode


class Directory:
    """Names, and what they name."""

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}


Entry = Inode | Directory


@dataclass(frozen=True, slots=True)
class Edit:
    """One name, before and after."""

    directory: Directory
    name: str
    before: Entry | None
    after: Entry | None

    def apply(self) -> None:
        self._set(self.after)

    def undo(self) -> None:
        self._set(self.before)

    def _set(self, entry: Entry | None) -> None:
        if entry is None:
            self.directory.entries.pop(self.name, None)
        else:
            self.directory.entries[self.name] = entry


@dataclass(slots=True)
class NameChange:
    """Edits that come true together."""

    at_ns: int
    edits: tuple[Edit, ...]
    is_durable: bool = False

    def touches(self, directories: set[Directory]) -> bool:
        return any(edit.directory in directories for edit in self.edits)

    def directories(self) -> set[Directory]:
        return {edit.directory for edit in self.edits}


class Journal:
    """The changes of names that a loss of power may take back, oldest first."""

    def __init__(self) -> None:
        self._changes: list[NameChange] = []

    def make(self, at_ns: int, *edits: Edit) -> None:
        self._changes.append(NameChange(at_ns, edits))
        for edit in edits:
            edit.apply()

    def sync(self, directory: Directory) -> None:
        """Make the names of a directory durable, and all changes that theirs build upon."""
        wanted = {directory}
        for change in reversed(self._changes):
            if change.touches(wanted):
                change.is_durable = True
                wanted |= change.directories()
        self._forget_durable()

    def write_back(self, until_ns: int) -> None:
        for change in self._changes:
            if change.at_ns >= until_ns:
                break
            change.is_durable = True
        self._forget_durable()

    def crash(self, random: Random) -> None:
        """Lose power."""
        for change in reversed(self._changes):
            for edit in reversed(change.edits):
                edit.undo()
        stopped: set[Directory] = set()
        for change in self._changes:
            is_lost = change.touches(stopped) or random.random() < 0.5
            if is_lost and not change.is_durable:
                stopped |= change.directories()
            else:
                for edit in change.edits:
                    edit.apply()
        self._changes.clear()

    def _forget_durable(self) -> None:
        count = 0
        while count < len(self._changes) and self._changes[count].is_durable:
            count += 1
        del self._changes[:count]
