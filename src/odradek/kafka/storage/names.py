"""The names of files and directories.

A segment's files are named after its base offset, in 20 digits. A partition's directory is
`<topic>-<partition>`; one that is to be deleted, comes from another directory or is unknown to
the cluster says so behind 32 hexadecimal digits.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

NAME_MAX = 255

LOG = ".log"
OFFSET_INDEX = ".index"
TIME_INDEX = ".timeindex"
TRANSACTION_INDEX = ".txnindex"
SNAPSHOT = ".snapshot"
DELETED = ".deleted"
CLEANED = ".cleaned"
SWAP = ".swap"
TEMPORARY = ".tmp"
INDEXES = (OFFSET_INDEX, TIME_INDEX, TRANSACTION_INDEX)
SEGMENT_FILES = (LOG, *INDEXES)

_FILE = re.compile(r"(\d{20})(\.(?:log|index|timeindex|txnindex|snapshot))(\.(?:cleaned|swap))?")
_DIRECTORY = re.compile(r"(.+)-(\d+)(?:\.([0-9a-f]{32})-(delete|future|stray))?")


class TopicPartition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class Purpose(Enum):
    """Why a partition's directory has a name of its own."""

    LIVE = ""
    DELETE = "delete"
    FUTURE = "future"
    STRAY = "stray"


class StoredFile(NamedTuple):
    """A file of a segment, or a producer snapshot, taken apart."""

    base_offset: int
    kind: str
    state: str  # "", ".cleaned" or ".swap".


def offset_name(offset: int, kind: str) -> str:
    return f"{offset:020d}{kind}"


def read_file_name(name: str) -> StoredFile | None:
    """What a file is for; None if it is none of a segment's."""
    match = _FILE.fullmatch(name)
    return StoredFile(int(match[1]), match[2], match[3] or "") if match else None


def read_directory_name(name: str) -> tuple[TopicPartition, Purpose] | None:
    """The partition that a directory is for; None if for none."""
    match = _DIRECTORY.fullmatch(name)
    if match is None:
        return None
    return TopicPartition(match[1], int(match[2])), Purpose(match[4] or "")


def directory_name(where: TopicPartition, purpose: Purpose, unique: str) -> str:
    """A name for a partition on its way; the topic is cut where the whole would be too long."""
    if purpose is Purpose.LIVE:
        return str(where)
    tail = f"-{where.partition}.{unique}-{purpose.value}"
    return where.topic[: NAME_MAX - len(tail)] + tail
