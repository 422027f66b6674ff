"""Is a ZooKeeper's directory whole? Snapshots and logs are read through; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.doctor.finding import Finding, good, note, warning, wrong
from odradek.runtime.disk import Disk
from odradek.zookeeper.storage.directories import VERSION
from odradek.zookeeper.storage.epochs import (
    ACCEPTED_EPOCH,
    CURRENT_EPOCH,
    read_epoch,
    read_my_id,
)
from odradek.zookeeper.storage.errors import CorruptSnapshot, StorageError
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.names import log_files, snapshot_files
from odradek.zookeeper.storage.snapshot_reader import read_snapshot

EPOCH_SHIFT = 32
LOGS_MANY = 50


def look_at_zookeeper_directory(disk: Disk, path: str) -> Iterator[Finding]:
    """A `dataDir`, or the `version-2` in it."""
    data = path.removesuffix(f"/{VERSION}")
    versioned = f"{data}/{VERSION}"
    if not disk.is_directory(versioned):
        yield warning(data, f"there is no {VERSION}: no server has started here yet")
        return
    try:
        server_id = read_my_id(disk, data)
        yield note(
            data,
            f"myid is {server_id}"
            if server_id is not None
            else "there is no myid: a server alone needs none",
        )
    except StorageError as error:
        yield wrong(data, str(error))
    newest: list[int] = []
    yield from of_snapshots(disk, versioned, newest)
    last: list[int] = []
    yield from of_logs(disk, versioned, newest[-1] if newest else None, last)
    yield from of_epochs(disk, versioned, max([*newest, *last], default=0))


def of_snapshots(disk: Disk, path: str, newest: list[int]) -> Iterator[Finding]:
    """Each snapshot; the newest that can be read is what a server starts with."""
    stored = snapshot_files(disk, path)
    for file in stored:
        try:
            snapshot = read_snapshot(disk, file)
        except CorruptSnapshot as error:
            text = f"{error}"
            yield (wrong if file == stored[-1] else warning)(file.path, f"cannot be used: {text}")
        else:
            newest.append(file.zxid)
            if file == stored[-1]:
                yield good(file.path, f"{len(snapshot.tree):,} znodes up to zxid {file.zxid:#x}")
    if not stored:
        yield warning(path, "there is no snapshot")
    elif not newest:
        yield wrong(path, "no snapshot can be read: the server would not start")


def of_logs(disk: Disk, path: str, snapshot: int | None, last: list[int]) -> Iterator[Finding]:
    """All transactions, in order, and whether they go on from the snapshot."""
    files = log_files(disk, path)
    count, previous = 0, -1
    try:
        for entry in read_log(disk, path, 0):
            if entry.zxid <= previous:
                text = f"zxid {entry.zxid:#x} comes after {previous:#x}"
                yield wrong(entry.path, text)
            if count == 0 and snapshot is not None and is_gap(snapshot, entry.zxid):
                yield wrong(
                    entry.path,
                    f"the first transaction is {entry.zxid:#x}, and the newest"
                    f" snapshot ends at {snapshot:#x}: those between are lost",
                )
            previous = entry.zxid
            count += 1
    except StorageError as error:
        yield wrong(path, f"{error}: what follows may have been promised")
    if count:
        last.append(previous)
        yield good(path, f"{count:,} transactions in {len(files)} logs, up to zxid {previous:#x}")
        if snapshot is None:
            yield wrong(path, "there are transactions, and no snapshot that they follow")
    if len(files) > LOGS_MANY:
        yield warning(
            path, f"{len(files)} logs: set autopurge.purgeInterval to have old ones removed"
        )


def is_gap(snapshot: int, first: int) -> bool:
    """Whether transactions are missing between a snapshot and a log: zxids of an epoch count up."""
    is_same_epoch = first >> EPOCH_SHIFT == snapshot >> EPOCH_SHIFT
    return is_same_epoch and first > snapshot + 1


def of_epochs(disk: Disk, path: str, last_zxid: int) -> Iterator[Finding]:
    try:
        accepted = read_epoch(disk, path, ACCEPTED_EPOCH)
        current = read_epoch(disk, path, CURRENT_EPOCH)
    except StorageError as error:
        yield wrong(path, str(error))
        return
    if accepted is None and current is None:
        yield note(path, "there are no epochs: it was never a member of an ensemble")
        return
    yield good(path, f"accepted epoch {accepted}, current epoch {current}")
    if accepted is not None and current is not None and accepted < current:
        yield wrong(path, f"accepted epoch {accepted} is before the current one, {current}")
    if current is not None and last_zxid >> EPOCH_SHIFT > current:
        yield wrong(
            path,
            f"the log is of epoch {last_zxid >> EPOCH_SHIFT}, and the current one is"
            f" said to be {current}: the member would refuse to start",
        )
