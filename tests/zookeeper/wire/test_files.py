"""Files that a real server wrote: read, and written again to the same bytes."""

from __future__ import annotations

import pytest

from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.file import FileHeader
from odradek.zookeeper.wire.messages.txn import CreateTxn, ErrorTxn
from odradek.zookeeper.wire.transactions import TxnEntry
from tests.zookeeper.wire.golden import golden_bytes
from tests.zookeeper.wire.snapshots import (
    log_bytes,
    log_entries,
    read_snapshot,
    snapshot_bytes,
)


def test_a_log_is_written_again_to_the_same_bytes() -> None:
    data = golden_bytes("log.1")
    header, position = FileHeader.read(data)
    assert header == FileHeader(int.from_bytes(b"ZKLG", "big"), 2, 0)
    entries = [TxnEntry.decode(entry) for entry in log_entries(data, position)]
    assert [entry.header.zxid for entry in entries] == list(range(1, 13))
    assert log_bytes(header, [entry.encode() for entry in entries]) == data


def test_an_error_is_logged_without_a_digest() -> None:
    entries = map(TxnEntry.decode, log_entries(golden_bytes("log.1"), 16))
    for entry in entries:
        assert isinstance(entry.record, ErrorTxn) == (entry.digest is None)
        assert isinstance(entry.record, CreateTxn) == (entry.header.type == Op.CREATE)


@pytest.mark.parametrize(("name", "count"), [("snapshot.0", 4), ("snapshot.83", 83)])
def test_a_snapshot_is_written_again_to_the_same_bytes(name: str, count: int) -> None:
    data = golden_bytes(name)
    snapshot = read_snapshot(data)
    assert len(snapshot.nodes) == count
    assert snapshot_bytes(snapshot) == data
