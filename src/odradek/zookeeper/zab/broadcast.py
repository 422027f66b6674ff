"""The leader's proposals, from propose to commit.

A proposal commits when a quorum of the voters holds it on disk (the leader is one of them, and
its own disk counts only when it is done), and never before the one ahead of it: every server
applies in the order of the leader. A sync is answered when all that was proposed before it is
committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from odradek.zookeeper.zab.configuration import membership_in
from odradek.zookeeper.zab.effects import Synced
from odradek.zookeeper.zab.history import History
from odradek.zookeeper.zab.window import Entry


class Broadcast:
    """What is proposed and not committed: the history's tail, and how far each server holds it."""

    def __init__(self, my_id: int, history: History, first_zxid: int) -> None:
        self.last_proposed = first_zxid
        self._first_zxid = first_zxid  # Of the epoch; it is no proposal's.
        self._my_id = my_id
        self.is_closed = False  # Another is to lead, and to commit what is left.
        self._history = history
        self._configuration = history.configuration
        self._acked: dict[int, int] = {}  # By server: it holds all up to this zxid.
        self._unwritten: deque[tuple[int, int]] = deque()  # Marks of our own disk, with zxids.
        self._syncs: dict[int, list[int | None]] = {}

    @property
    def outstanding(self) -> deque[Entry]:
        return self._history.tail

    @property
    def is_plain(self) -> bool:
        """Whether nothing has its place between two commits: no sync, and no new membership."""
        return not self._syncs and self._configuration.proposed is None

    @property
    def pending_sync_count(self) -> int:
        return sum(map(len, self._syncs.values()))

    def propose(self, entry: Entry) -> None:
        assert entry.zxid == self.last_proposed + 1
        self.last_proposed = entry.zxid
        self._unwritten.append((self._history.log(entry), entry.zxid))

    def written(self, mark: int) -> Sequence[Entry]:
        """Our own disk holds all up to this mark; return what that commits, oldest first."""
        unwritten, first = self._unwritten, self._unwritten[0][1] if self._unwritten else 0
        last = 0
        while unwritten and unwritten[0][0] <= mark:
            _, last = unwritten.popleft()
        return self.ack(self._my_id, first, last) if last else ()

    def ack(self, server_id: int, first_zxid: int, last_zxid: int) -> Sequence[Entry]:
        """Count acks that came one behind the other; return what they commit, oldest first.

        Servers ack in the order in which they were sent: whoever leaves one out is not believed.
        """
        acked = self._acked.get(server_id, self._first_zxid)
        if not acked < last_zxid <= self.last_proposed:
            return ()  # They are known, or of nothing that was ever proposed.
        if first_zxid > max(acked, self._history.applied_zxid) + 1:
            return ()
        self._acked[server_id] = last_zxid
        tail = self._history.tail
        if not tail or last_zxid < tail[0].zxid:
            return ()  # All of it was committed without this server.
        return self._take_committed()

    def forget(self, server_id: int) -> None:
        """This server synchronises anew: it truncates what it acked, and will ack that again.

        The original lets the old acks stand, and so may commit what too few disks hold.
        """
        self._acked.pop(server_id, None)

    def sync(self, asker: int | None) -> list[int | None]:
        """Who may be answered now that this one asks."""
        if not self.outstanding:
            return [asker]
        self._syncs.setdefault(self.last_proposed, []).append(asker)
        return []

    def take_syncs(self, zxid: int) -> list[int | None]:
        """Which learners waited for this commit."""
        return self._syncs.pop(zxid, []) if self._syncs else []

    def _take_committed(self) -> Sequence[Entry]:
        if self.is_plain:
            return () if self.is_closed else self._history.commit_through(self._held_by_quorum())
        committed: list[Entry] = []
        tail, held_zxid = self._history.tail, self._held_by_quorum()
        while tail and tail[0].zxid <= held_zxid and not self.is_closed:
            entry = self._history.commit_next()
            self._answer_own_syncs(entry.zxid)
            committed.append(entry)
            if self._configuration.proposed and membership_in(entry.data):
                break  # What comes after it is for the new membership to decide.
        return committed

    def _held_by_quorum(self) -> int:
        """The newest zxid that enough disks hold; 0 if there is none."""
        acked, has_quorum = self._acked, self._configuration.quorums.has_quorum
        for zxid in sorted(acked.values(), reverse=True):
            if has_quorum([it for it, through in acked.items() if through >= zxid]):
                return zxid
        return 0

    def _answer_own_syncs(self, zxid: int) -> None:
        """Between this commit and the next one: what a client asked for is answered in order."""
        askers = self._syncs.get(zxid, [])
        while None in askers:
            askers.remove(None)
            self._history.effects.append(Synced())

    def resume(self) -> Sequence[Entry]:
        """What is committed by the membership that has just been activated."""
        return self._take_committed()
