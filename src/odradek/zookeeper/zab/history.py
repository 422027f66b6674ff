"""What one server holds: a log whose end may be uncommitted, two promises about epochs, members.

The history outlives the roles. `tail` is what is logged and not known to be committed: a leader's
outstanding proposals, a follower's pending ones, or what was left of either when the role ended.
Only a commit moves an entry from there to the tree, always the oldest.

Every change to the disk takes the next mark, so that a promise can name what it builds upon.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from odradek.zookeeper.zab.configuration import Configuration, membership_in
from odradek.zookeeper.zab.effects import (
    Activate,
    Effects,
    EpochFile,
    InstallSnapshot,
    Truncate,
    WriteEpoch,
)
from odradek.zookeeper.zab.quorum import Membership
from odradek.zookeeper.zab.window import COMMITTED_LOG_COUNT, CommittedLog, Entry


class History:
    """The state of a member as its disk will hold it once all marks are durable."""

    def __init__(
        self,
        membership: Membership,
        accepted_epoch: int,
        current_epoch: int,
        last_zxid: int,
        recent: Iterable[Entry] = (),
        *,
        proposed: Membership | None = None,
        is_fixed: bool = False,
        committed_log_count: int = COMMITTED_LOG_COUNT,
    ) -> None:
        """Begin with what was recovered; `recent` are the newest entries of it, all applied.

        `proposed` is the membership in the recovered tree; it may be newer than that in force.
        With `is_fixed`, reconfigurations are off and only `membership` counts.
        """
        self.configuration = Configuration(membership, proposed, is_fixed=is_fixed)
        self.accepted_epoch = max(accepted_epoch, current_epoch)
        self.current_epoch = current_epoch
        self.last_zxid = last_zxid  # Of the newest that is logged.
        self.applied_zxid = last_zxid
        self.window = CommittedLog(recent, committed_log_count)
        self.tail: deque[Entry] = deque()
        self.mark = 0  # Of the newest change to the disk.
        self.durable_mark = 0
        self.effects = Effects()

    def log(self, entry: Entry) -> int:
        """Append to the log; return the mark by which it is durable."""
        assert entry.zxid > self.last_zxid
        if not self.configuration.is_fixed and (membership := membership_in(entry.data)):
            self.configuration.propose(membership)
        self.last_zxid = entry.zxid
        self.tail.append(entry)
        self.mark += 1
        self.effects.log(self.mark, entry)
        return self.mark

    def commit_next(self) -> Entry:
        """Apply the oldest entry that is not applied yet."""
        entry = self.tail.popleft()
        self.applied_zxid = entry.zxid
        self.window.append(entry)
        self.effects.commit(entry)
        return entry

    def commit_through(self, zxid: int) -> Sequence[Entry]:
        """Apply the oldest entries up to this zxid; return them."""
        tail, entries = self.tail, []
        while tail and tail[0].zxid <= zxid:
            entries.append(tail.popleft())
        if entries:
            self.applied_zxid = entries[-1].zxid
            self.window.append(*entries)
            self.effects.commit(*entries)
        return entries

    def known(self) -> list[Entry]:
        """The newest entries, those of the tail included: the history that a new leader brings."""
        return [*self.window.entries(), *self.tail]

    def truncate(self, zxid: int, *, for_snapshot: bool = False) -> int:
        """Forget all that was logged behind this zxid."""
        while self.tail and self.tail[-1].zxid > zxid:
            self.tail.pop()
        self.window.cut(zxid)
        self.last_zxid = zxid
        self.applied_zxid = min(self.applied_zxid, zxid)
        self.mark += 1
        self.effects.append(Truncate(self.mark, zxid, for_snapshot))
        return self.mark

    def install(self, link: int, zxid: int) -> int:
        """Take another server's snapshot instead of all that was here."""
        if self.last_zxid > zxid:
            # What the log holds behind the snapshot must not be replayed over it.
            self.truncate(zxid, for_snapshot=True)
        self.tail.clear()
        self.window.clear()
        self.last_zxid = self.applied_zxid = zxid
        self.mark += 1
        self.effects.append(InstallSnapshot(self.mark, link, zxid))
        return self.mark

    def accept_epoch(self, epoch: int) -> int:
        """Promise to follow no leader of an older epoch."""
        assert epoch > self.accepted_epoch
        self.accepted_epoch = epoch
        return self._write_epoch(EpochFile.ACCEPTED, epoch)

    def enter_epoch(self, epoch: int) -> int:
        """State that this history is that of the epoch's leader."""
        self.current_epoch = epoch
        return self._write_epoch(EpochFile.CURRENT, epoch)

    def activate(self, membership: Membership) -> bool:
        """Put a membership in force; say whether that is new."""
        if not self.configuration.activate(membership):
            return False
        self.mark += 1
        self.effects.append(Activate(self.mark, membership))
        return True

    def _write_epoch(self, file: EpochFile, epoch: int) -> int:
        self.mark += 1
        self.effects.append(WriteEpoch(self.mark, file, epoch))
        return self.mark
