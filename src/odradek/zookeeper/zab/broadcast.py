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
    """What is proposed and not committed: the history's tail, and who holds each entry of it."""

    def __init__(self, my_id: int, history: History, first_zxid: int) -> None:
        self.last_proposed = first_zxid
        self._my_id = my_id
        self.is_closed = False  # Another is to lead, and to commit what is left.
        self._history = history
        self._configuration = history.configuration
        self._holders: dict[int, set[int]] = {}
        self._unwritten: deque[tuple[int, int]] = deque()  # Marks of our own disk, with zxids.
        self._syncs: dict[int, list[int | None]] = {}

    @property
    def outstanding(self) -> deque[Entry]:
        return self._history.tail

    @property
    def pending_sync_count(self) -> int:
        return sum(map(len, self._syncs.values()))

    def propose(self, entry: Entry) -> None:
        assert entry.zxid == self.last_proposed + 1
        self.last_proposed = entry.zxid
        self._holders[entry.zxid] = set()
        self._unwritten.append((self._history.log(entry), entry.zxid))

    def written(self, mark: int) -> list[Entry]:
        """Our own disk holds all up to this mark; return what that commits, oldest first."""
        committed: list[Entry] = []
        while self._unwritten and self._unwritten[0][0] <= mark:
            committed += self.ack(self._my_id, self._unwritten.popleft()[1])
        return committed

    def ack(self, server_id: int, zxid: int) -> Sequence[Entry]:
        """Count one ack; return what it commits, oldest first."""
        holders = self._holders.get(zxid)
        if holders is None:
            return ()  # It was committed without this server.
        holders.add(server_id)
        if zxid != self._history.tail[0].zxid:
            return ()  # Whatever it is, the one ahead of it is not committed yet.
        return self._take_committed()

    def forget(self, server_id: int) -> None:
        """This server synchronises anew: it truncates what it acked, and will ack that again.

        The original lets the old acks stand, and so may commit what too few disks hold.
        """
        for holders in self._holders.values():
            holders.discard(server_id)

    def sync(self, asker: int | None) -> list[int | None]:
        """Who may be answered now that this one asks."""
        if not self.outstanding:
            return [asker]
        self._syncs.setdefault(self.last_proposed, []).append(asker)
        return []

    def take_syncs(self, zxid: int) -> list[int | None]:
        """Which learners waited for this commit."""
        return self._syncs.pop(zxid, [])

    def _take_committed(self) -> Sequence[Entry]:
        committed: list[Entry] = []
        tail, quorums = self._history.tail, self._configuration.quorums
        while tail and not self.is_closed and quorums.has_quorum(self._holders[tail[0].zxid]):
            entry = self._history.commit_next()
            self._answer_own_syncs(entry.zxid)
            del self._holders[entry.zxid]
            committed.append(entry)
            if self._configuration.proposed and membership_in(entry.data):
                break  # What comes after it is for the new membership to decide.
        return committed

    def _answer_own_syncs(self, zxid: int) -> None:
        """Between this commit and the next one: what a client asked for is answered in order."""
        askers = self._syncs.get(zxid, [])
        while None in askers:
            askers.remove(None)
            self._history.effects.append(Synced())

    def resume(self) -> Sequence[Entry]:
        """What is committed by the membership that has just been activated."""
        return self._take_committed()
