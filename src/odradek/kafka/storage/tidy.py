"""What a crash leaves among the files of a partition, put in order before they are read.

`.deleted` was to go. `.cleaned` is a compaction that did not end; swap files from its first
offset on belong to it and go too. Other swap files are whole: they replace the segments in their
range.
"""

from __future__ import annotations

from odradek.kafka.storage.heads import walk_heads
from odradek.kafka.storage.names import (
    CLEANED,
    DELETED,
    INDEXES,
    LOG,
    SNAPSHOT,
    SWAP,
    TEMPORARY,
    StoredFile,
    offset_name,
    read_file_name,
)
from odradek.kafka.storage.source import ColdSource
from odradek.kafka.storage.view import OFFSET_MAX
from odradek.runtime.disk import Disk

Files = dict[str, StoredFile]


def tidy(disk: Disk, directory: str, notes: list[str]) -> Files:
    """The files that remain, by name, all of them without a state."""
    names = disk.list_directory(directory)
    for name in [name for name in names if name.endswith((DELETED, TEMPORARY))]:
        disk.remove(f"{directory}/{name}")
        notes.append(f"removed {directory}/{name}")
        names.remove(name)
    files = {name: file for name in names if (file := read_file_name(name))}
    if any(file.state for file in files.values()):
        files = _finish_compaction(disk, directory, files, notes)
    return _without_orphans(disk, directory, files, notes)


def _finish_compaction(disk: Disk, directory: str, files: Files, notes: list[str]) -> Files:
    cleaned = [file.base_offset for file in files.values() if file.state == CLEANED]
    unfinished_from = min(cleaned, default=OFFSET_MAX)
    # Swap files go first: while a `.cleaned` one is there, they are known to be unfinished.
    for state in (SWAP, CLEANED):
        for name, file in list(files.items()):
            if file.state == state and unfinished_from <= file.base_offset:
                _remove(disk, directory, name, files, notes)
    swaps = [file for file in files.values() if file.state == SWAP and file.kind == LOG]
    if swaps:
        first = min(file.base_offset for file in swaps)
        # One that is empty takes the place of at least the segment of its name.
        end = max(_next_offset(disk, directory, file) for file in swaps)
        end = max(end, first + 1)
        for name, file in list(files.items()):
            if not file.state and file.kind != SNAPSHOT and first <= file.base_offset < end:
                _remove(disk, directory, name, files, notes)
    return {_swap_in(disk, directory, name, file, notes): file for name, file in files.items()}


def _swap_in(disk: Disk, directory: str, name: str, file: StoredFile, notes: list[str]) -> str:
    if file.state != SWAP:
        return name
    target = name.removesuffix(SWAP)
    disk.rename(f"{directory}/{name}", f"{directory}/{target}")
    notes.append(f"swapped in {directory}/{target}")
    return target


def _next_offset(disk: Disk, directory: str, file: StoredFile) -> int:
    path = f"{directory}/{offset_name(file.base_offset, LOG)}{SWAP}"
    next_offset = file.base_offset
    with ColdSource(disk) as source:
        for head in walk_heads(source, path, 0, source.size(path)):
            next_offset = head.last_offset + 1
    return next_offset


def _without_orphans(disk: Disk, directory: str, files: Files, notes: list[str]) -> Files:
    logs = {file.base_offset for file in files.values() if file.kind == LOG}
    for name, file in list(files.items()):
        if file.kind in INDEXES and file.base_offset not in logs:
            _remove(disk, directory, name, files, notes)
    return files


def _remove(disk: Disk, directory: str, name: str, files: Files, notes: list[str]) -> None:
    disk.remove(f"{directory}/{name}")
    notes.append(f"removed {directory}/{name}")
    del files[name]
