"""The small files of a member of an ensemble: its id, and the epochs that it has promised.

`acceptedEpoch` is the newest epoch whose leader this server will follow, `currentEpoch` the newest
whose history it holds. A server that forgot either could help two leaders to the same epoch, so
they are replaced as a whole, and durably, before anything is said that builds upon them.
"""

from __future__ import annotations

from odradek.runtime.disk import Disk
from odradek.zookeeper.storage.errors import StorageError

MY_ID = "myid"
CURRENT_EPOCH = "currentEpoch"
ACCEPTED_EPOCH = "acceptedEpoch"
TEXT_BYTES_MAX = 64


def read_epoch(disk: Disk, directory: str, name: str) -> int | None:
    """The epoch in this file of a `version-2` directory; None if it was never written."""
    return read_number(disk, f"{directory}/{name}")


def write_epoch(disk: Disk, directory: str, name: str, epoch: int) -> None:
    """Replace the epoch in this file; on return it is durable."""
    unfinished = f"{directory}/{name}.tmp"
    with disk.open(unfinished, create=True) as file:
        file.truncate(0)
        file.write(0, str(epoch).encode())
        file.sync()
    disk.rename(unfinished, f"{directory}/{name}")
    disk.sync_directory(directory)


def read_my_id(disk: Disk, data_directory: str) -> int | None:
    """The id of this server; a standalone one needs none."""
    return read_number(disk, f"{data_directory}/{MY_ID}")


def read_number(disk: Disk, path: str) -> int | None:
    if not disk.exists(path):
        return None
    with disk.open(path, read_only=True) as file:
        text = file.pread(0, TEXT_BYTES_MAX).decode(errors="replace")
    try:
        return int(text.partition("\n")[0])
    except ValueError as error:
        raise StorageError(path, f"{text!r} is not a number") from error
