"""Whether the files of partitions are as they should be: checksums, order, indexes, snapshots."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path

from odradek.cli.log_files import NoLogFile, Row, rows_of
from odradek.kafka.storage.names import (
    LOG,
    OFFSET_INDEX,
    SNAPSHOT,
    TIME_INDEX,
    read_directory_name,
    read_file_name,
)
from odradek.runtime.errors import OdradekError

INDEXES = {OFFSET_INDEX: ("offset", "position"), TIME_INDEX: ("timestamp", "offset")}


def partition_directories(path: Path) -> list[Path]:
    """The directory itself if it is a partition's, else those in it."""
    if not path.is_dir():
        raise NoLogFile(f"{path} is not a directory")
    if any(path.glob(f"*{LOG}")):
        return [path]
    found = [it for it in sorted(path.iterdir()) if it.is_dir() and read_directory_name(it.name)]
    if not found:
        raise NoLogFile(f"{path} holds no partition")
    return found


def problems_in(directory: Path) -> Iterator[str]:
    """All that is wrong with a partition's files, one sentence each."""
    names = sorted(it.name for it in directory.iterdir())
    segments = [name for name in names if name.endswith(LOG) and read_file_name(name)]
    next_offset = -1
    for number, name in enumerate(segments):
        rows = list(rows_of(directory / name))
        is_last = number == len(segments) - 1
        yield from segment_problems(name, rows, next_offset, may_grow=is_last)
        offsets = [offset_of(row) for row in rows if row["kind"] in ("batch", "message")]
        next_offset = max([next_offset, *(it + 1 for it in offsets)])
        yield from index_problems(directory, name, rows)
    for name in names:
        if name.endswith((SNAPSHOT, "checkpoint")):
            yield from file_problems(directory / name)


def offset_of(row: Row) -> int:
    """The last offset of a batch or message."""
    offset: int = row["last_offset"] if "last_offset" in row else row["offset"]
    return offset


def segment_problems(
    name: str, rows: list[Row], next_offset: int, *, may_grow: bool
) -> Iterator[str]:
    for row in rows:
        where = f"{name} at {row['position']}"
        if row["kind"] == "rest" and may_grow:
            continue  # A broker may be writing it just now.
        if row.get("problem"):
            yield f"{where}: {row['problem']}"
        if row["kind"] in ("batch", "message"):
            first = row["base_offset"] if "base_offset" in row else row["offset"]
            if first < next_offset:
                yield f"{where}: offset {first} comes after {next_offset - 1}"
            next_offset = offset_of(row) + 1


def index_problems(directory: Path, segment: str, rows: list[Row]) -> Iterator[str]:
    """Indexes must ascend, and point at where batches begin."""
    starts = [row["position"] for row in rows if row["kind"] in ("batch", "message")]
    stem = segment.removesuffix(LOG)
    for kind, keys in INDEXES.items():
        path = directory / f"{stem}{kind}"
        last = (-1, -1)
        for row in rows_of(path) if path.exists() else ():
            entry = row[keys[0]], row[keys[1]]
            if entry[0] < last[0]:
                yield f"{path.name}: {entry} comes after {last}"
            last = entry
            if kind == OFFSET_INDEX and not is_start(starts, row["position"]):
                yield f"{path.name}: nothing begins at position {row['position']}"


def is_start(starts: list[int], position: int) -> bool:
    at = bisect_left(starts, position)
    return at < len(starts) and starts[at] == position


def file_problems(path: Path) -> Iterator[str]:
    try:
        list(rows_of(path))
    except (OdradekError, ValueError) as error:
        yield str(error)
