"""The log of Spark's file sink: which files of a folder count, and which are to be put together.

A line for each file, after a line with the version. The log's newest file, where each micro-batch
writes the whole list (`<batch>.compact`), is all that readers look at; so replacing that one file
replaces the list, whole, for whoever looks from then on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from odradek.runtime.errors import OdradekError

VERSION = "v1"
COMPACT = ".compact"
FOLDER = "_spark_metadata"


class NotOurLog(OdradekError):
    """A log that was not written as an archive's is."""


@dataclass(frozen=True, slots=True)
class SinkFile:
    """A file that counts; `line` is what the log says of it."""

    path: str
    size: int
    line: str

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Bin:
    """Small files of one folder that become one."""

    folder: str
    files: tuple[SinkFile, ...]


def newest_log(names: Iterable[str]) -> str:
    """The name of the log's newest file, if it has the whole list."""
    numbered = [(int(n.removesuffix(COMPACT)), n) for n in names if is_log(n)]
    if not numbered:
        raise NotOurLog(f"there is no log in {FOLDER}: nothing was archived here")
    _, newest = max(numbered)
    if not newest.endswith(COMPACT):
        raise NotOurLog(
            f"{FOLDER}/{newest} does not have the whole list: this was not written by archive"
        )
    return newest


def is_log(name: str) -> bool:
    return name.removesuffix(COMPACT).isdecimal()


def parse_log(text: str) -> list[SinkFile]:
    """The files that a log lists."""
    version, *lines = text.splitlines()
    if version != VERSION:
        raise NotOurLog(f"a log of version {version}: {VERSION} is the one that is known")
    files = []
    for line in filter(None, lines):
        said = json.loads(line)
        files.append(SinkFile(said["path"], int(said["size"]), line))
    return files


def render_log(files: Iterable[SinkFile]) -> str:
    return "\n".join([VERSION, *(file.line for file in files)])


def entry_of(path: str, size: int, modified_ms: int, block_bytes: int) -> SinkFile:
    """A new file, as Spark itself writes of one."""
    said = {
        "path": path,
        "size": size,
        "isDir": False,
        "modificationTime": modified_ms,
        "blockReplication": 1,
        "blockSize": block_bytes,
        "action": "add",
    }
    return SinkFile(path, size, json.dumps(said, separators=(",", ":")))


def plan_bins(files: Iterable[SinkFile], bytes_wanted: int, files_min: int) -> list[Bin]:
    """Which files to put together: small ones of one folder, as many as make a large one.

    One that is more than half of what is wanted is large enough. Fewer than `files_min` are not
    worth the writing, unless they fill a file.
    """
    by_folder: dict[str, list[SinkFile]] = {}
    for file in files:
        if file.size * 2 <= bytes_wanted:
            by_folder.setdefault(file.folder, []).append(file)
    bins = []
    for folder, small in sorted(by_folder.items()):
        gathered: list[SinkFile] = []
        for file in small:
            gathered.append(file)
            if sum(one.size for one in gathered) >= bytes_wanted:
                bins.append(Bin(folder, tuple(gathered)))
                gathered = []
        if len(gathered) >= max(2, files_min):
            bins.append(Bin(folder, tuple(gathered)))
    return bins


def replaced(
    files: Iterable[SinkFile], gone: Iterable[SinkFile], come: Iterable[SinkFile]
) -> list[SinkFile]:
    """The list after some files were put together."""
    paths = {file.path for file in gone}
    return [file for file in files if file.path not in paths] + list(come)
