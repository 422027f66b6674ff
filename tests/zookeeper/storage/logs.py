"""Logs of made-up entries."""

from __future__ import annotations

from collections.abc import Iterable
from struct import pack
from typing import Any

from odradek.runtime.disk import Disk
from odradek.zookeeper.storage.batch import Batch
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.txnlog import TxnLog


def entry_of(zxid: int, content: bytes = b"") -> bytes:
    """The shortest thing that can be logged, with some content behind it."""
    return pack(">qiqqi", 1, 0, zxid, 0, -1) + content


def batch_of(entries: Iterable[tuple[int, bytes]], *, rolls: bool = False) -> Batch:
    batch = Batch()
    if rolls:
        batch.roll()
    for zxid, entry in entries:
        batch.append(zxid, entry)
    return batch


def write_log(disk: Disk, *batches: Iterable[tuple[int, bytes]], **settings: Any) -> None:
    """Each batch to a file of its own."""
    log = TxnLog(disk, "/data", **settings)
    for entries in batches:
        log.write(batch_of(entries, rolls=True))
    log.close()


def zxids(disk: Disk, from_zxid: int = 0) -> list[int]:
    return zxids_in(disk, "/data", from_zxid)


def zxids_in(disk: Disk, directory: str, from_zxid: int = 0) -> list[int]:
    return [entry.zxid for entry in read_log(disk, directory, from_zxid)]
