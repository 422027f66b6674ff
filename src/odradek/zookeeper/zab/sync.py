"""How a learner is brought to the leader's history: by DIFF, by TRUNC, by both, or by SNAP.

    it has all that we have                 DIFF, and nothing more
    it has more than we have                TRUNC to our newest
    its newest write is in our window       DIFF, and what came later
    it has writes there that we never had   TRUNC to the last one in common, and what came later
    its newest write is before our window   as above, with the log on disk before the window
    anything else                           SNAP

A log is never truncated across epochs: then, too, a snapshot goes. A zxid that only stands for an
epoch names no write, so nothing is ever truncated because of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from odradek.zookeeper.wire.codes import PacketType
from odradek.zookeeper.zab.window import Entry
from odradek.zookeeper.zab.zxid import counter_of, epoch_of


@dataclass(frozen=True, slots=True)
class Plan:
    """A first packet, and the committed entries behind it."""

    opening: PacketType
    zxid: int
    entries: Sequence[Entry]
    through: int  # What the learner's newest write is once it took all this.


def plan_sync(peer_zxid: int, committed: Sequence[Entry], last_zxid: int) -> Plan | None:
    """What to send to a learner at this zxid; None if the log on disk must be asked first."""
    least, most = bounds(committed, last_zxid)
    if peer_zxid == last_zxid:
        return Plan(PacketType.DIFF, peer_zxid, (), peer_zxid)
    if peer_zxid > most and counter_of(peer_zxid):
        return Plan(PacketType.TRUNC, most, (), most)
    if peer_zxid < least:
        return None
    draft = Draft(peer_zxid, most)
    if peer_zxid <= most:
        draft.take(committed)
    return draft.plan(last_zxid)


def plan_sync_with_log(
    peer_zxid: int, committed: Sequence[Entry], last_zxid: int, logged: Iterable[Entry]
) -> Plan:
    """The same, given what the log holds from the learner's zxid (or before it) on."""
    least, most = bounds(committed, last_zxid)
    draft = Draft(peer_zxid, most)
    draft.take(entry for entry in logged if entry.zxid <= least)
    if draft.through < least:
        return snapshot_at(last_zxid)  # The log does not reach from there to the window.
    draft.take(committed)
    return draft.plan(last_zxid)


def snapshot_at(zxid: int) -> Plan:
    return Plan(PacketType.SNAP, zxid, (), zxid)


def bounds(committed: Sequence[Entry], last_zxid: int) -> tuple[int, int]:
    """The oldest and the newest zxid of the window; an empty one stands where we stand."""
    if not committed:
        return last_zxid, last_zxid
    return committed[0].zxid, committed[-1].zxid


@dataclass(slots=True)
class Draft:
    """A plan in the making: entries are shown to it, oldest first."""

    peer_zxid: int
    last_committed: int
    opening: PacketType | None = None
    zxid: int = 0
    through: int = field(init=False)
    entries: list[Entry] = field(default_factory=list)
    _previous_zxid: int = -1

    def __post_init__(self) -> None:
        self.through = self.peer_zxid

    def take(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.zxid < self.peer_zxid:
                self._previous_zxid = entry.zxid
            elif self.opening is None and not self._open(entry.zxid):
                return
            elif entry.zxid > self.through:
                self.entries.append(entry)
                self.through = entry.zxid
        if self.opening is None and not counter_of(self.peer_zxid):
            self._open_diff()

    def plan(self, last_zxid: int) -> Plan:
        if self.opening is None:
            return snapshot_at(last_zxid)
        return Plan(self.opening, self.zxid, self.entries, self.through)

    def _open(self, zxid: int) -> bool:
        """Choose the first packet at the first entry that is not older than the learner."""
        if zxid == self.peer_zxid or not counter_of(self.peer_zxid):
            self._open_diff()
        elif epoch_of(zxid) == epoch_of(self.peer_zxid):
            self.opening, self.zxid = PacketType.TRUNC, self._previous_zxid
        return self.opening is not None

    def _open_diff(self) -> None:
        self.opening, self.zxid = PacketType.DIFF, self.last_committed
