"""What a member keeps in its directories, beside the log that the journal writes.

All of it blocks, and is done by the journal in its turn, so nobody else writes meanwhile. What is
asked for may be asked for twice, and then has the same outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from odradek.runtime.disk import Disk
from odradek.zookeeper.state.tree import Tree
from odradek.zookeeper.storage.directories import Directories
from odradek.zookeeper.storage.dynamic_config import write_members
from odradek.zookeeper.storage.epochs import (
    ACCEPTED_EPOCH,
    CURRENT_EPOCH,
    read_epoch,
    write_epoch,
)
from odradek.zookeeper.storage.errors import StorageError
from odradek.zookeeper.storage.log_reader import read_log
from odradek.zookeeper.storage.names import snapshot_files
from odradek.zookeeper.storage.recover import Recovered
from odradek.zookeeper.storage.snapshot_file import write_snapshot
from odradek.zookeeper.storage.snapshot_slices import SnapshotFormat
from odradek.zookeeper.storage.truncation import go_back
from odradek.zookeeper.storage.txnlog import TxnLog
from odradek.zookeeper.zab.quorum import Membership
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import counter_of, epoch_of


class Shelf:
    """The files of one member."""

    def __init__(
        self,
        disk: Disk,
        directories: Directories,
        log: TxnLog,
        recover: Callable[[], Recovered],
        *,
        base_zxid: int,
        size_factor: float,
        parts: SnapshotFormat,
        compression: str,
        config_path: str | None,
    ) -> None:
        self._disk = disk
        self._directories = directories
        self._log = log
        self._recover = recover
        self._base_zxid = base_zxid  # From here on the log has no gap.
        self._size_factor = size_factor
        self._parts = parts
        self._compression = compression
        self._config_path = config_path

    def read_epochs(self, last_zxid: int) -> tuple[int, int]:
        """The accepted and the current epoch; a server that was alone begins with its zxid's."""
        # Who was killed may have replaced a file and not synced that; what we read we will promise.
        self._disk.sync_directory(self._directories.snapshots)
        found = []
        for name in (ACCEPTED_EPOCH, CURRENT_EPOCH):
            epoch = read_epoch(self._disk, self._directories.snapshots, name)
            if epoch is None:
                # Said once and for all: later it would be a guess about a half-received history.
                epoch = epoch_of(last_zxid)
                self.write_epoch(name, epoch)
            found.append(epoch)
        return found[0], found[1]

    def write_epoch(self, name: str, epoch: int) -> None:
        write_epoch(self._disk, self._directories.snapshots, name, epoch)

    def write_members(self, members: Membership) -> None:
        """Start with these members from now on."""
        if self._config_path is not None:
            write_members(self._disk, self._config_path, members.text, members.version)

    def go_back(self, zxid: int, needs_state: bool) -> Recovered | None:
        """Forget all behind `zxid`; give the state anew if what is in memory is ahead of that."""
        self._log.go_back(zxid)
        go_back(self._disk, self._directories.snapshots, self._directories.logs, zxid)
        if not needs_state:
            return None
        found = self._recover()
        if found.last_zxid < zxid and counter_of(zxid):
            # What lay between came with a snapshot that is gone now, and was never in the log. Who
            # starts anew says how far it is; we have said that we would be there.
            reason = (
                f"it ends at {found.last_zxid:#x}, and cannot go back to {zxid:#x}: start again"
            )
            raise StorageError(self._directories.logs, reason)
        self._base_zxid = found.base_zxid
        found.tree.last_zxid = zxid
        return found

    def install(self, tree: Tree, timeouts: Mapping[int, int]) -> None:
        """Begin anew with a state that came from another server."""
        self._log.go_back(tree.last_zxid)
        snapshots = self._directories.snapshots
        write_snapshot(self._disk, snapshots, tree, timeouts, self._parts, self._compression)
        self._base_zxid = tree.last_zxid

    def read_log(self, zxid: int) -> Sequence[Entry] | None:
        """The log from the last entry at or before `zxid` on; None if a snapshot serves better."""
        found: list[Entry] = []
        limit_bytes, size = self._limit_bytes(), 0
        for entry in read_log(self._disk, self._directories.logs, zxid):
            if entry.zxid < self._base_zxid:
                continue
            if entry.zxid <= zxid:
                found.clear()
            else:
                size += len(entry.data)
            if size > limit_bytes:
                return None
            found.append(Entry(entry.zxid, entry.data))
        return found

    def _limit_bytes(self) -> float:
        """A part of what the newest snapshot weighs."""
        stored = snapshot_files(self._disk, self._directories.snapshots)
        with self._disk.open(stored[-1].path, read_only=True) as file:
            return file.size() * self._size_factor
