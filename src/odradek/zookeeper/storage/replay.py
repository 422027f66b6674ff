"""Logged transactions, applied once more, each compared with the digest that it carries.

While the tree is fuzzy, between the start and the end of its snapshot, there is nothing to compare.
At the end it should have the snapshot's digest; from there on, after each transaction, the digest
that was logged with it. A snapshot that came from a leader does not say where it ends: it does
where the tree first has the digest of a transaction. Where a digest is wrong, that is told and not
refused: what is logged was promised, and the original itself logs a wrong digest now and then.
"""

from __future__ import annotations

from collections.abc import Iterable

from odradek.runtime.errors import ProtocolError
from odradek.zookeeper.state.apply import apply
from odradek.zookeeper.state.tree import DIGEST_MASK
from odradek.zookeeper.storage.errors import CorruptLog
from odradek.zookeeper.storage.log_end import FRAME_BYTES
from odradek.zookeeper.storage.log_reader import LogEntry
from odradek.zookeeper.storage.snapshot_reader import Snapshot
from odradek.zookeeper.storage.snapshot_slices import DIGEST_VERSION
from odradek.zookeeper.wire.codes import Op
from odradek.zookeeper.wire.messages.txn import CreateSessionTxn
from odradek.zookeeper.wire.transactions import TxnEntry


class Replay:
    """Brings the tree and the sessions of a snapshot up to date."""

    def __init__(self, snapshot: Snapshot, checks_digests: bool) -> None:
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self._snapshot = snapshot
        self._tree = snapshot.tree
        self._checks_digests = checks_digests
        self._digest = snapshot.digest if checks_digests else None  # None: no longer fuzzy.

    def run(self, entries: Iterable[LogEntry]) -> LogEntry | None:
        """Apply what is newer than the tree; return the last entry of all."""
        last = None
        tree = self._tree
        count = 0
        for last in entries:
            if last.zxid > tree.last_zxid:
                if self._digest is not None:
                    self._settle_digest(last.zxid)
                self._apply(last)
                count += 1
        self._settle_digest(tree.last_zxid + 1)
        self.notes.append(f"replayed {count} transactions, up to {tree.last_zxid:#x}")
        if self._digest is not None:
            self.notes.append(f"the log ends before {self._digest.zxid:#x}, where the snapshot did")
            tree.is_fuzzy = True
        return last

    def _apply(self, entry: LogEntry) -> None:
        txn = decode(entry)
        header, record = txn.header, txn.record
        if isinstance(record, CreateSessionTxn):
            self._snapshot.timeouts[header.client_id] = record.time_out
        elif header.type == Op.CLOSE_SESSION:
            self._snapshot.timeouts.pop(header.client_id, None)
        apply(self._tree, header, record)
        self._tree.last_zxid = entry.zxid
        if self._digest is not None or txn.digest is None or not self._checks_digests:
            return
        if txn.digest.version == DIGEST_VERSION:
            self._compare(txn.digest.tree_digest & DIGEST_MASK, entry.path)

    def _settle_digest(self, next_zxid: int) -> None:
        """Compare the tree with the snapshot's digest, if it is the next transaction's turn."""
        if self._digest is not None and self._digest.zxid < next_zxid:
            self._compare(self._digest.value, self._snapshot.path)
            self._digest = None

    def _compare(self, digest: int, path: str) -> None:
        if digest == self._tree.digest:
            self._tree.is_fuzzy = False
        elif not self._tree.is_fuzzy:
            found, zxid = self._tree.digest, self._tree.last_zxid
            self.warnings.append(
                f"{path}: the tree at zxid {zxid:#x} has digest {found:#x}, and had {digest:#x}"
            )
            # From here on all would differ.
            self._checks_digests = False


def decode(entry: LogEntry) -> TxnEntry:
    try:
        return TxnEntry.decode(entry.data)
    except ProtocolError as error:
        position = entry.end - len(entry.data) - FRAME_BYTES
        raise CorruptLog(entry.path, position, f"an unknown transaction: {error}") from error
