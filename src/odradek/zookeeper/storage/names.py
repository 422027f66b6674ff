"""The names of stored files: `log.<zxid>` and `snapshot.<zxid>`, in hexadecimal.

A log is named after its first transaction. A snapshot is named after the last transaction that was
applied when it was begun, and may end in the method that it is compressed with.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from odradek.runtime.disk import Disk

LOG = re.compile(r"log\.([0-9a-fA-F]{1,16})")
SNAPSHOT = re.compile(r"snapshot\.([0-9a-fA-F]{1,16})(?:\.(?:gz|snappy))?")


class StoredFile(NamedTuple):
    """A log or a snapshot, and the zxid that it is named after."""

    zxid: int
    path: str


def log_name(zxid: int) -> str:
    return f"log.{zxid:x}"


def snapshot_name(zxid: int, compression: str = "") -> str:
    return f"snapshot.{zxid:x}" + (f".{compression}" if compression else "")


def log_files(disk: Disk, directory: str) -> list[StoredFile]:
    """The logs in a directory, oldest first."""
    return _named(disk, directory, LOG)


def snapshot_files(disk: Disk, directory: str) -> list[StoredFile]:
    """The snapshots in a directory, oldest first."""
    return _named(disk, directory, SNAPSHOT)


def logs_from(files: list[StoredFile], zxid: int) -> list[StoredFile]:
    """The logs that may hold this zxid or a later one: the last to start by then, and what follows.

    `files` are in order.
    """
    started = sum(file.zxid <= zxid for file in files)
    return files[max(0, started - 1) :]


def _named(disk: Disk, directory: str, pattern: re.Pattern[str]) -> list[StoredFile]:
    return sorted(
        StoredFile(int(match[1], 16), f"{directory}/{match[0]}")
        for match in map(pattern.fullmatch, disk.list_directory(directory))
        if match
    )
