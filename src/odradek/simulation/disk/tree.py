"""A tree of directories and files, with the manners of a POSIX one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

from odradek.simulation.disk.directories import Directory, Edit, Entry, Journal
from odradek.simulation.disk.inodes import Inode


class Tree:
    """Entries by absolute path. Every change goes through the journal."""

    def __init__(self) -> None:
        self.journal = Journal()
        self._root = Directory()

    def find(self, path: str) -> Entry | None:
        entry: Entry | None = self._root
        for name in parts(path):
            if not isinstance(entry, Directory):
                return None
            entry = entry.entries.get(name)
        return entry

    def directory(self, path: str) -> Directory:
        entry = self.find(path)
        if entry is None:
            raise os_error(errno.ENOENT, path)
        if not isinstance(entry, Directory):
            raise os_error(errno.ENOTDIR, path)
        return entry

    def file(self, path: str) -> Inode:
        entry = self.find(path)
        if entry is None:
            raise os_error(errno.ENOENT, path)
        if isinstance(entry, Directory):
            raise os_error(errno.EISDIR, path)
        return entry

    def add(self, path: str, entry: Entry, at_ns: int) -> None:
        """Give a new entry its name."""
        directory, name = self._place(path)
        self.journal.make(at_ns, Edit(directory, name, None, entry))

    def make_directories(self, path: str, at_ns: int) -> None:
        names = parts(path)
        for count in range(1, len(names) + 1):
            above = "/" + "/".join(names[:count])
            entry = self.find(above)
            if entry is None:
                self.add(above, Directory(), at_ns)
            elif not isinstance(entry, Directory):
                is_last = count == len(names)
                raise os_error(errno.EEXIST if is_last else errno.ENOTDIR, path)

    def rename(self, source: str, target: str, at_ns: int) -> Entry | None:
        """Rename; what the target named before is returned."""
        directory, name = self._place(source)
        moved = directory.entries.get(name)
        if moved is None:
            raise os_error(errno.ENOENT, source)
        new_directory, new_name = self._place(target)
        replaced = new_directory.entries.get(new_name)
        if replaced is moved:
            return None
        self._check_replaceable(moved, replaced, target)
        away = Edit(directory, name, moved, None)
        self.journal.make(at_ns, away, Edit(new_directory, new_name, replaced, moved))
        return replaced

    def remove(self, path: str, at_ns: int) -> Entry:
        """Remove a file or an empty directory."""
        directory, name = self._place(path)
        entry = directory.entries.get(name)
        if entry is None:
            raise os_error(errno.ENOENT, path)
        if isinstance(entry, Directory) and entry.entries:
            raise os_error(errno.ENOTEMPTY, path)
        self.journal.make(at_ns, Edit(directory, name, entry, None))
        return entry

    def files(self) -> Iterator[Inode]:
        """All files that have a name."""
        left: list[Entry] = [self._root]
        while left:
            entry = left.pop()
            if isinstance(entry, Directory):
                left += entry.entries.values()
            else:
                yield entry

    def _place(self, path: str) -> tuple[Directory, str]:
        *above, name = parts(path)
        return self.directory("/" + "/".join(above)), name

    def _check_replaceable(self, moved: Entry, replaced: Entry | None, target: str) -> None:
        if isinstance(replaced, Directory):
            if not isinstance(moved, Directory):
                raise os_error(errno.EISDIR, target)
            if replaced.entries:
                raise os_error(errno.ENOTEMPTY, target)
        elif replaced is not None and isinstance(moved, Directory):
            raise os_error(errno.ENOTDIR, target)


def parts(path: str) -> list[str]:
    assert path.startswith("/"), f"not an absolute path: {path}"
    return [part for part in path.split("/") if part]


def os_error(number: int, path: str) -> OSError:
    """The error that the operating system would raise; its number chooses the class."""
    return OSError(number, os.strerror(number), path)
