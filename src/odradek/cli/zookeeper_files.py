"""ZooKeeper's files, read as they are: transaction logs and snapshots, ours or Apache's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from odradek.cli.reading import time_text
from odradek.runtime.os_disk import OsDisk
from odradek.zookeeper.storage.log_reader import read_entries
from odradek.zookeeper.storage.names import LOG, SNAPSHOT, StoredFile
from odradek.zookeeper.storage.snapshot_reader import read_snapshot
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.transactions import TxnEntry, TypedMultiTxn

Row = dict[str, Any]
UNSIGNED = 0xFFFFFFFFFFFFFFFF
OPERATIONS = {op.value: op.name.lower() for op in Op}


def is_zookeepers(path: Path) -> bool:
    return bool(LOG.fullmatch(path.name) or SNAPSHOT.fullmatch(path.name))


def rows_of(path: Path) -> Iterator[Row]:
    """What a log or a snapshot holds, row by row; each says its `kind`."""
    if match := SNAPSHOT.fullmatch(path.name):
        yield from snapshot_rows(StoredFile(int(match[1], 16), str(path.absolute())))
    else:
        yield from log_rows(path)


def log_rows(path: Path) -> Iterator[Row]:
    """Transactions; a file that ends in the middle of one is the newest of a server that runs."""
    with OsDisk().open(str(path.absolute()), read_only=True) as file:
        for entry in read_entries(file, is_newest=True):
            txn = TxnEntry.decode(entry.data)
            yield {
                "kind": "transaction",
                "zxid": f"{txn.header.zxid:#x}",
                "time": time_text(txn.header.time),
                "session": f"{txn.header.client_id & UNSIGNED:#x}",
                "operation": operation(txn.header.type),
                "paths": paths_of(txn.record),
            }


def operation(number: int) -> str:
    return OPERATIONS.get(number, str(number))


def paths_of(record: Any) -> list[str]:
    """The znodes that a transaction is about."""
    if isinstance(record, TypedMultiTxn):
        return [path for _, part in record.txns for path in paths_of(part)]
    path = getattr(record, "path", None)
    return [path] if path is not None else []


def snapshot_rows(stored: StoredFile) -> Iterator[Row]:
    """Sessions, then znodes."""
    found = read_snapshot(OsDisk(), stored)
    for session, timeout_ms in found.timeouts.items():
        yield {"kind": "session", "session": f"{session & UNSIGNED:#x}", "timeout_ms": timeout_ms}
    for path, node in sorted(found.tree.nodes.items()):
        yield {
            "kind": "znode",
            "path": path or "/",
            "bytes": len(node.data or b""),
            "version": node.version,
            "created": time_text(node.ctime),
            "owner": f"{node.owner & UNSIGNED:#x}" if node.owner else None,
        }
